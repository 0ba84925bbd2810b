/** The end of a stored conversation for the list of sessions: what the user asked last, and how the answer ends. Loaded when it is shown. */
import type { EngineClient } from "../../../protocol/client.js";
import type { SessionId } from "../../../protocol/ids.js";
import type { SessionInfo } from "../../../protocol/queries.js";
import { blocksOfEvents } from "../transcript/blocks-of-events.js";

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

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ");
}

function lastLine(text: string): string {
  return oneLine(text.trimEnd().split("\n").at(-1) ?? "");
}
