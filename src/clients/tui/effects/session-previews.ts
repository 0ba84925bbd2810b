/** What the list of sessions shows of their contents: the last prompt and the end of its answer, and where the words of the filter are. */
import type { EngineClient } from "../../../protocol/client.js";
import type { SessionId } from "../../../protocol/ids.js";
import { isJsonObject, type JsonValue } from "../../../protocol/json.js";
import type { SessionInfo } from "../../../protocol/queries.js";
import { readSlashAnswer } from "../../../protocol/slash-command.js";
import { blocksOfEvents } from "../transcript/blocks-of-events.js";
import type { Carrier } from "./carrier.js";

/** Enough for the last turn of most sessions. */
const LAST_EVENTS = 400;

export class SessionPreviews {
  readonly #client: EngineClient;
  readonly #onChange: () => void;
  readonly #lines = new Map<SessionId, readonly string[]>();

  constructor(client: EngineClient, onChange: () => void) {
    this.#client = client;
    this.#onChange = onChange;
  }

  of({ id, last_event: last }: SessionInfo): readonly string[] {
    const known = this.#lines.get(id);
    if (known !== undefined) return known;
    this.#lines.set(id, []);
    if (last > 0) {
      void this.#load(id, last).then((lines) => {
        this.#lines.set(id, lines);
        this.#onChange();
      });
    }
    return [];
  }

  async #load(session: SessionId, last: number): Promise<readonly string[]> {
    const reply = await this.#client.query("ListEvents", { before: last + 1, limit: LAST_EVENTS }, session);
    if (!reply.ok) return [];
    const blocks = blocksOfEvents(reply.answer.events, session);
    const prompt = blocks.findLast((block) => block.kind === "prompt");
    const answer = blocks.findLast((block) => block.kind === "answer");
    return [
      ...(prompt === undefined ? [] : [`› ${oneLine(prompt.text)}`]),
      ...(answer === undefined ? [] : [lastLine(answer.markdown)]),
    ];
  }
}

const LEAST_WORDS = 3;
const MOST_PLACES = 100;

/** Searches the contents of all sessions for the words of a filter. Only the newest search counts. */
export class ContentSearch {
  readonly #carrier: Pick<Carrier, "slash">;
  readonly #onChange: () => void;
  readonly #found = new Map<string, ReadonlyMap<string, string>>();
  #wanted = "";
  #isSearching = false;

  constructor(carrier: Pick<Carrier, "slash">, onChange: () => void) {
    this.#carrier = carrier;
    this.#onChange = onChange;
  }

  /** The first place in a session; undefined while it is not known. */
  placeIn(filter: string, session: SessionId): string | undefined {
    if (filter.length < LEAST_WORDS) return undefined;
    this.#wanted = filter;
    const places = this.#found.get(filter);
    if (places === undefined) void this.#search();
    return places?.get(session);
  }

  /** One search at a time: the next one is for what is typed by then. */
  async #search(): Promise<void> {
    if (this.#isSearching) return;
    this.#isSearching = true;
    while (!this.#found.has(this.#wanted)) {
      const filter = this.#wanted;
      const words = filter.replaceAll(/["-]/g, " ");
      const reply = await this.#carrier
        .slash("session:search", `--limit ${MOST_PLACES} ${words}`)
        .catch(() => undefined);
      const value = reply?.ok ? readSlashAnswer(reply.value).value : undefined;
      this.#found.set(filter, placesOf(value));
    }
    this.#isSearching = false;
    this.#onChange();
  }
}

/** The newest place of each session. */
function placesOf(value: JsonValue | undefined): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  for (const hit of Array.isArray(value) ? value : []) {
    if (!isJsonObject(hit) || typeof hit.session !== "string" || typeof hit.snippet !== "string") continue;
    if (!places.has(hit.session)) places.set(hit.session, `found: ${oneLine(hit.snippet)}`);
  }
  return places;
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ");
}

function lastLine(text: string): string {
  return oneLine(text.trimEnd().split("\n").at(-1) ?? "");
}
