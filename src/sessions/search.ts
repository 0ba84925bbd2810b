/**
 * Full text over all sessions, for any store: it reads what `events` gives.
 *
 * 1. All the words of a query are in one turn: in the input, in an answer (joined, so that a word may be cut
 *    in two by its deltas), in the arguments or the result of a tool. Or all are in the title.
 * 2. The newest comes first: sessions by their last use, and the turns of a session from its end.
 * 3. It keeps one snippet of a turn, and of a long answer only the piece that it searches.
 * 4. An unreadable session is skipped and reported to the caller.
 */
import { AnswerEnds } from "../protocol/answer-ends.js";
import type { InputContent, ResultContent } from "../protocol/content.js";
import { resultText } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { EventKind } from "../protocol/events.js";
import { EXPIRED } from "../protocol/events.js";
import type { SessionId } from "../protocol/ids.js";
import { Breath } from "./breath.js";
import { type PassageKind, stringsOf } from "./passages.js";
import { FOLDING, fold, parseSearchQuery, type SearchQuery, unfoldedRange } from "./search-query.js";
import { type Snippet, snippetAround } from "./snippet.js";
import { type SessionRecord, type SessionStore, StoreError } from "./store.js";

export interface SearchHit extends Snippet {
  readonly session: SessionId;
  readonly title?: string;
  /** From 1; 0 for the title, and for events before the first turn. */
  readonly turn: number;
  /** The event that the snippet is from; 0 for the title. */
  readonly event: number;
  readonly kind: EventKind | "title";
  readonly ts: string;
}

export type SearchedKind = PassageKind | "title";

export interface SearchOptions {
  readonly limit?: number;
  /** Only sessions of this folder. */
  readonly cwd?: string;
  /** Only this session. */
  readonly session?: SessionId | undefined;
  /** Only in these; all without it. */
  readonly kinds?: ReadonlySet<SearchedKind>;
  /** Only what is from then on, or before then. Times as ISO texts. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { readonly sessions: number; readonly of: number }) => void;
  readonly onUnreadable?: (session: SessionId, message: string) => void;
}

const LIMIT = 100;
/** A long answer is kept in pieces of this many characters, each with the end of the piece before it. */
const PIECE = 256 * 1024;
const OVERLAP = 1024;
/** A text is compared in slices, with a breath between them. */
const SLICE = 32 * 1024;

export async function* searchSessions(
  store: SessionStore,
  query: string,
  options: SearchOptions = {},
): AsyncGenerator<SearchHit> {
  const { limit = LIMIT, signal, onProgress, onUnreadable } = options;
  const terms = parseSearchQuery(query);
  if (terms.wanted.length === 0) {
    throw new StoreError("invalid", "Give at least one word to search for; -word only excludes.");
  }
  const records = await searchedSessions(store, options);
  let left = limit;
  for (const [i, record] of records.entries()) {
    if (left <= 0) return;
    onProgress?.({ sessions: i, of: records.length });
    const search = new SessionSearch(record, terms, { ...options, most: left });
    try {
      await search.begin();
      await readAll(store, search, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof StoreError)) throw error;
      onUnreadable?.(record.id, error.message);
    }
    const hits = await search.end();
    left -= hits.length;
    yield* hits;
  }
  onProgress?.({ sessions: records.length, of: records.length });
}

/** The latest first, without those that were last used before the time that is searched, or that began after it. */
export async function searchedSessions(
  store: Pick<SessionStore, "list" | "get">,
  { cwd, session, since, until }: Pick<SearchOptions, "cwd" | "session" | "since" | "until">,
): Promise<readonly SessionRecord[]> {
  const one = session === undefined ? undefined : await store.get(session);
  const all =
    session === undefined ? await store.list(cwd === undefined ? {} : { cwd }) : one === undefined ? [] : [one];
  return all.filter(
    ({ active_at, created_at }) =>
      (since === undefined || active_at >= since) && (until === undefined || created_at < until),
  );
}

async function readAll(store: SessionStore, search: SessionSearch, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  for await (const event of store.events(search.record.id)) {
    await search.add(event);
    signal?.throwIfAborted();
  }
}

/** The state of the turn that is being read. */
interface Turn {
  readonly number: number;
  readonly found: Set<RegExp>;
  excluded: boolean;
  hasDeltas: boolean;
  best: { readonly hit: SearchHit; readonly terms: number } | undefined;
}

type Source = Pick<SearchHit, "event" | "kind" | "ts">;

class SessionSearch {
  readonly record: SessionRecord;
  readonly #terms: SearchQuery;
  readonly #most: number;
  readonly #options: Pick<SearchOptions, "kinds" | "since" | "until">;
  readonly #hits: SearchHit[] = [];
  readonly #breath = new Breath();
  readonly #workOfCharacter: number;
  #titleHit: SearchHit | undefined;
  readonly #ends = new AnswerEnds();
  #turn = newTurn(0);
  #answer = "";
  /** The place in the answer where each of its deltas begins. */
  #deltas: (Source & { readonly at: number })[] = [];

  constructor(
    record: SessionRecord,
    terms: SearchQuery,
    { most, ...options }: SearchOptions & { readonly most: number },
  ) {
    this.record = record;
    this.#terms = terms;
    this.#most = most;
    this.#options = options;
    this.#workOfCharacter = [...terms.wanted, ...terms.unwanted].reduce(
      (sum, { source }) => sum + source.length,
      FOLDING,
    );
  }

  async begin(): Promise<void> {
    const { title = "", active_at: ts } = this.record;
    await this.#look(title, () => ({ event: 0, kind: "title", ts }));
    this.#titleHit = this.#endTurn(0);
  }

  async add(event: Envelope): Promise<void> {
    await this.#breath.after(0);
    if (this.#ends.take(event) !== undefined) await this.#endAnswer();
    const from = () => ({ event: event.id, kind: event.kind, ts: event.ts });
    switch (event.kind) {
      case "TurnStarted":
        await this.#closeTurn(this.#turn.number + 1);
        await this.#look(textOf(event.payload.input), from);
        return;
      case "TextDelta":
        await this.#addDelta(event.payload.text, from());
        return;
      case "ToolCallStarted":
        await this.#look(stringsOf(event.payload.args).join("\n"), from);
        return;
      case "ToolResult":
      case "ToolResultChanged":
        await this.#look(textOf(event.payload.content), from);
        return;
      case "ContextAdded":
        await this.#look(event.payload.text, from);
        return;
      case "InputSteered":
        await this.#look(textOf(event.payload.input), from);
        return;
      case "AnswerRetracted":
        this.#answer = "";
        this.#deltas = [];
        return;
      case "TurnEnded":
        await this.#endAnswer();
        if (!this.#turn.hasDeltas) await this.#look(event.payload.text, from);
        return;
      default:
    }
  }

  /** The newest first. */
  async end(): Promise<readonly SearchHit[]> {
    await this.#closeTurn(0);
    if (this.#titleHit !== undefined) this.#hits.push(this.#titleHit);
    return this.#hits.slice(-this.#most).reverse();
  }

  async #addDelta(text: string, source: Source): Promise<void> {
    this.#turn.hasDeltas = true;
    if (text === EXPIRED) return;
    this.#deltas.push({ ...source, at: this.#answer.length });
    this.#answer += text;
    if (this.#answer.length < PIECE) return;
    const answer = this.#answer;
    const deltas = this.#deltas;
    await this.#endAnswer();
    const start = answer.length - OVERLAP;
    this.#answer = answer.slice(start);
    const first = deltas.findLastIndex(({ at }) => at <= start);
    this.#deltas = deltas.slice(first).map((delta) => ({ ...delta, at: Math.max(0, delta.at - start) }));
  }

  async #endAnswer(): Promise<void> {
    const answer = this.#answer;
    const deltas = this.#deltas;
    this.#answer = "";
    this.#deltas = [];
    await this.#look(answer, (index) => {
      const { at: _, ...source } = deltas.findLast(({ at }) => at <= index) ?? {
        at: 0,
        event: 0,
        kind: "TextDelta",
        ts: "",
      };
      return source;
    });
  }

  async #closeTurn(next: number): Promise<void> {
    await this.#endAnswer();
    const hit = this.#endTurn(next);
    if (hit === undefined) return;
    this.#hits.push(hit);
    // Later turns are shown before earlier ones, so the earliest is dropped first.
    if (this.#hits.length > this.#most) this.#hits.shift();
  }

  #endTurn(next: number): SearchHit | undefined {
    const { found, excluded, best } = this.#turn;
    this.#turn = newTurn(next);
    return !excluded && found.size === this.#terms.wanted.length ? best?.hit : undefined;
  }

  #isSearched({ kind, ts }: Source): boolean {
    const { kinds, since, until } = this.#options;
    if (kinds?.has(SEARCHED[kind] ?? "input") === false) return false;
    return (since === undefined || ts >= since) && (until === undefined || ts < until);
  }

  /** `sourceAt` says which event the character at an index is from. */
  async #look(text: string, sourceAt: (index: number) => Source): Promise<void> {
    if (text === "" || text === EXPIRED) return;
    const turn = this.#turn;
    if (turn.excluded || !this.#isSearched(sourceAt(0))) return;
    const wanted = new Set(this.#terms.wanted);
    let first: number | undefined;
    for (let from = 0; from < text.length; from += SLICE) {
      const slice = text.slice(from, from + SLICE + OVERLAP);
      const folded = fold(slice);
      await this.#breath.after(slice.length * this.#workOfCharacter);
      if (this.#terms.unwanted.some((term) => folded.search(term) >= 0)) {
        turn.excluded = true;
        return;
      }
      const matches = [...wanted].map((term) => ({ term, at: folded.search(term) })).filter(({ at }) => at >= 0);
      for (const { term } of matches) {
        wanted.delete(term);
        turn.found.add(term);
      }
      if (first !== undefined || matches.length === 0) continue;
      const at = Math.min(...matches.map((match) => match.at));
      first = from + unfoldedRange(slice, at, at + 1)[0];
    }
    const terms = this.#terms.wanted.length - wanted.size;
    if (first === undefined || terms <= (turn.best?.terms ?? 0)) return;
    const { id: session, title } = this.record;
    const source = sourceAt(first);
    const place = { session, ...(title !== undefined && { title }), turn: turn.number, ...source };
    turn.best = { terms, hit: { ...place, ...snippetAround(text, first, this.#terms.wanted) } };
  }
}

const SEARCHED: Readonly<Partial<Record<EventKind | "title", SearchedKind>>> = {
  title: "title",
  TextDelta: "answer",
  TurnEnded: "answer",
  ToolCallStarted: "call",
  ToolResult: "result",
};

function newTurn(number: number): Turn {
  return { number, found: new Set(), excluded: false, hasDeltas: false, best: undefined };
}

function textOf(content: readonly (InputContent | ResultContent)[]): string {
  const text = resultText(content);
  return text === EXPIRED ? "" : text;
}
