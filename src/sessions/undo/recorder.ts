/**
 * Writes down what the tools of a session change.
 *
 * 1. The file tools announce their changes: the old content is on disk before the change.
 * 2. For any other changing tool the workspace is compared before and after: what it may replace is in the
 *    journal before it starts, within the limits of limits.ts.
 * 3. What could not be covered is written down as well.
 * 4. The next call ends a watched call whose process died: changes found then count as its own.
 * 5. The comparison after a call runs beside the next request. No other call starts before it ends.
 */
import { relative, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { CallId, TurnId } from "../../protocol/ids.js";
import { shownPath } from "../../system/path-bytes.js";
import { isWithin } from "../../system/within.js";
import type { Change, EntryState } from "./entry-state.js";
import type { History } from "./history.js";
import type { UndoJournal } from "./journal.js";
import type { CallRecord, UndoRecord } from "./records.js";
import { type Comparison, WorkspaceWatch } from "./workspace-watch.js";

export interface BegunCall {
  readonly call: CallId;
  readonly tool: string;
  /** `announced`: it reports every change to `before`. `watched`: its changes are not known in advance. */
  readonly changes: "announced" | "watched";
}

/** A call that is being recorded. */
export interface UndoCall {
  /** `goesOn`: the call left something running behind it. Answers with the files that a watched call changed, where that is known. */
  end(options?: { readonly goesOn?: boolean }): Promise<readonly string[] | undefined>;
}

/** The planned change of a file tool; undefined means that nothing exists. The type matches the tools' own interface. */
export interface AnnouncedChange {
  readonly absolute: string;
  readonly before: AnnouncedEntry | undefined;
  readonly after: AnnouncedEntry | undefined;
}

export type AnnouncedEntry =
  /** Without content when it is too large to be held. */
  | { readonly kind: "file"; readonly content: Buffer | undefined; readonly mode: number | undefined }
  | { readonly kind: "folder"; readonly mode: number | undefined }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "other" };

export const GAPS = {
  tooLarge: "the workspace holds too many files to watch, so its changes are unknown",
  interrupted: "the session ended while it ran, so every change found afterwards in the workspace counts as its own",
  unknownEnd: "the session ended while it ran, so its changes are unknown",
  goesOn: "it left a program running in the background, and later changes of that program are unknown",
  unreadable: "some folders of the workspace are unreadable",
} as const;

/** For changes that no tool call is behind. */
const NO_CALL: BegunCall = { call: "call_none", tool: "oxbow", changes: "announced" };

export class UndoRecorder {
  readonly #journal: UndoJournal;
  readonly #root: string;
  readonly #open: CallRecord[] = [];
  #turn: Pick<CallRecord, "turn" | "number"> | undefined;
  /** The last call that is in the journal. */
  #written: CallRecord | undefined;
  /** Dropped if its findings did not reach the journal: the next one uses the journal. */
  #watch: WorkspaceWatch | undefined;
  #watching = 0;
  #tooLargeIn: TurnId | undefined;
  /** The ends that are being written down, one after the other. Never rejects. */
  #ending: Promise<void> = Promise.resolve();

  /** `root` is the workspace, free of symbolic links. */
  constructor(journal: UndoJournal, { root }: { readonly root: string }) {
    this.#journal = journal;
    this.#root = root;
  }

  /** To be called when a turn begins; `number` counts the turns of the session from 1. */
  startTurn(turn: TurnId, number?: number): void {
    this.#turn = { turn, ...(number !== undefined && { number }) };
  }

  /** Before a tool that changes things runs. */
  async begin(call: BegunCall): Promise<UndoCall> {
    await this.#ending;
    const record = this.#recordOf(call);
    const finish = call.changes === "watched" ? await this.#beginWatched(record) : async () => undefined;
    this.#open.push(record);
    return {
      end: async ({ goesOn = false } = {}) => {
        const at = this.#open.indexOf(record);
        if (at === -1) return undefined;
        this.#open.splice(at, 1);
        // The result goes first: the next request is on its way when the workspace is looked at.
        const ended = this.#ending.then(() => setImmediate()).then(() => finish(goesOn ? [GAPS.goesOn] : []));
        this.#ending = ended.then(
          () => {},
          () => {},
        );
        return ended;
      },
    };
  }

  /** Resolves when the ended calls are recorded. */
  async flush(): Promise<void> {
    await this.#ending;
  }

  /** Before a file tool changes something; what goes is on the disk when this resolves. */
  before(change: AnnouncedChange): Promise<void> {
    return this.beforeAll([() => change]);
  }

  /** The same for the changes of one call, which are read one after the other. */
  async beforeAll(changes: readonly (() => AnnouncedChange)[]): Promise<void> {
    await this.#ending;
    const journal = this.#journal;
    const call = this.#open.at(-1) ?? this.#recordOf(NO_CALL);
    await journal.enter();
    try {
      const history = journal.begin(this.#root);
      const isInterrupted = history.interrupted !== undefined && this.#watching === 0;
      const earlier = isInterrupted ? (await this.#catchUp(history, call.turn)).records : [];
      const isWritten = this.#written?.call === call.call && this.#written.turn === call.turn;
      const list: Change[] = [];
      for (const read of changes) {
        const change = read();
        const before = await stateOf(change.before, (content) => journal.keep(content));
        const after = await stateOf(change.after, async (content) => journal.address(content));
        list.push({ path: this.#pathOf(change.absolute), before, after });
      }
      await journal.flush();
      journal.append(...earlier, ...(isWritten ? [] : [call]), { is: "change", call: call.call, list });
      this.#written = call;
      await journal.sync();
    } catch (error) {
      this.#watch = undefined;
      throw error;
    } finally {
      journal.leave();
    }
  }

  async #beginWatched(
    record: CallRecord,
  ): Promise<(gaps: readonly string[]) => Promise<readonly string[] | undefined>> {
    const journal = this.#journal;
    await journal.enter();
    try {
      const isWatched = await this.#lookBefore(record);
      if (isWatched) this.#watching++;
      return async (gaps) => {
        try {
          if (isWatched) this.#watching--;
          return await this.#lookAfter(record, isWatched ? gaps : [GAPS.tooLarge, ...gaps]);
        } finally {
          journal.leave();
        }
      };
    } catch (error) {
      this.#watch = undefined;
      journal.leave();
      throw error;
    }
  }

  /** False when the workspace is too large. */
  async #lookBefore(record: CallRecord): Promise<boolean> {
    const journal = this.#journal;
    const history = journal.begin(this.#root);
    // Another call is being watched already: what changes from now on will be found when one of the two ends.
    const { isTooLarge, records } =
      this.#watching > 0 ? { isTooLarge: false, records: [] } : await this.#catchUp(history, record.turn);
    this.#written = { ...record, watched: !isTooLarge };
    journal.append(...records, this.#written);
    if (journal.hasUnsafeContents) await journal.sync();
    return !isTooLarge;
  }

  /** The records that update the journal to the current workspace. */
  async #catchUp(
    history: History,
    turn: TurnId,
  ): Promise<{ readonly isTooLarge: boolean; readonly records: readonly UndoRecord[] }> {
    const { interrupted } = history;
    const found = await this.#compare(history, turn);
    if (found.is === "too-large") {
      const gaps = [GAPS.unknownEnd, GAPS.tooLarge];
      return {
        isTooLarge: true,
        records: interrupted === undefined ? [] : [{ is: "end", call: interrupted.call, gaps }],
      };
    }
    const records = interrupted === undefined ? seen(found) : conclusion(interrupted, found, [GAPS.interrupted]);
    return { isTooLarge: false, records };
  }

  async #lookAfter(record: CallRecord, gaps: readonly string[]): Promise<readonly string[] | undefined> {
    const journal = this.#journal;
    try {
      const history = journal.begin(this.#root);
      const found = gaps.includes(GAPS.tooLarge) ? undefined : await this.#compare(history, record.turn);
      if (found?.is === "compared") journal.append(...conclusion(record, found, gaps));
      else journal.append({ is: "end", call: record.call, gaps: [...new Set([GAPS.tooLarge, ...gaps])] });
      // The next command needs it on the disk; until then there is time. If this fails, it is tried again then.
      if (journal.hasUnsafeContents) journal.sync().catch(() => {});
      return found?.is === "compared" ? found.changes.map(({ path }) => shownPath(path)) : undefined;
    } catch (error) {
      this.#watch = undefined;
      throw error;
    }
  }

  async #compare(history: History, turn: TurnId): Promise<Comparison> {
    // Looking at 20,000 files takes a while: once a turn is enough to find out that there are too many.
    if (this.#tooLargeIn === turn) return { is: "too-large" };
    const journal = this.#journal;
    const { limits, clock, ignore } = journal;
    const { workspace: known, interrupted } = history;
    this.#watch ??= new WorkspaceWatch({
      root: this.#root,
      limits,
      clock,
      ignore,
      known,
      knownAt: interrupted?.at,
    });
    const found = await this.#watch.compare(async (content) =>
      journal.hasRoom ? journal.keep(content) : journal.address(content),
    );
    if (found.is === "too-large") this.#tooLargeIn = turn;
    await journal.flush();
    return found;
  }

  #recordOf({ call, tool, changes }: BegunCall): CallRecord {
    if (this.#turn === undefined) throw new Error("The undo recorder was not told which turn it is.");
    return { is: "call", call, tool, ...this.#turn, at: this.#journal.clock.wall(), watched: changes === "watched" };
  }

  #pathOf(absolute: string): string {
    const path = isWithin(absolute, this.#root) ? relative(this.#root, absolute) : absolute;
    return sep === "/" ? path : path.replaceAll(sep, "/");
  }
}

type Compared = Extract<Comparison, { is: "compared" }>;

/** The end of a watched call. */
function conclusion(call: CallRecord, found: Compared, gaps: readonly string[]): readonly UndoRecord[] {
  const { changes, met, unreadable } = found;
  const all = unreadable.length > 0 ? [...gaps, GAPS.unreadable] : gaps;
  return [
    ...(changes.length > 0 ? [{ is: "change", call: call.call, list: changes } as const] : []),
    ...seen({ changes: [], met }),
    { is: "end", call: call.call, ...(all.length > 0 && { gaps: all }) },
  ];
}

/** Changes that no tool made. */
function seen({ changes, met }: Pick<Compared, "changes" | "met">): readonly UndoRecord[] {
  const list = [...met, ...changes.map(({ path, after }) => [path, after ?? null] as const)];
  return list.length > 0 ? [{ is: "seen", list }] : [];
}

async function stateOf(
  entry: AnnouncedEntry | undefined,
  name: (content: Buffer) => Promise<string>,
): Promise<EntryState | undefined> {
  if (entry === undefined) return undefined;
  if (entry.kind === "other") return { kind: "other" };
  if (entry.kind === "link") return { kind: "link", target: entry.target };
  const mode = entry.mode === undefined ? {} : { mode: entry.mode };
  if (entry.kind === "folder" || entry.content === undefined) return { kind: entry.kind, ...mode };
  return { kind: "file", ...mode, size: entry.content.length, content: await name(entry.content) };
}
