/** The whole conversation for the view: the blocks that the client has seen, and before them, page by page, the session's log. */
import type { EngineClient } from "../../../protocol/client.js";
import type { SessionId } from "../../../protocol/ids.js";
import type { Block } from "../content/block.js";
import { blocksOfEvents } from "./blocks-of-events.js";

const PAGE_EVENTS = 5000;
/** The most pages in memory; the size of a page is not known in advance. */
const MOST_PAGES = 40;

export interface HistoryOptions {
  readonly client: EngineClient;
  readonly session: SessionId;
  /** What the client has seen. */
  readonly blocks: readonly Block[];
  /** The last event that it has not seen; 0 if it has seen all. */
  readonly before: number;
  readonly hidesCost?: boolean;
  /** Something changed that the screen shows. */
  readonly onChange: () => void;
}

export class History {
  readonly #options: HistoryOptions;
  readonly #pages: (readonly Block[])[];
  #before: number;
  #problem: string | undefined;
  #isLoading = false;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#pages = [options.blocks];
    this.#before = options.before;
  }

  /** The oldest last. A page with other content is another array. */
  get pages(): readonly (readonly Block[])[] {
    return this.#pages;
  }

  /** Whether there is more before the first line, or why not. */
  get state(): "complete" | "more" | "loading" | { readonly problem: string } {
    if (this.#problem !== undefined) return { problem: this.#problem };
    if (this.#isLoading) return "loading";
    return this.#before === 0 ? "complete" : "more";
  }

  /** The page before the first line, if there is one. */
  loadEarlier(): void {
    if (this.state !== "more") return;
    if (this.#pages.length > MOST_PAGES) {
      this.#problem = "the rest is in the log: oxbow session export";
      return;
    }
    this.#isLoading = true;
    void this.#load().finally(() => {
      this.#isLoading = false;
      this.#options.onChange();
    });
  }

  /** Reads the log of a session that the client does not follow, instead of what it has seen. */
  async readNewest(): Promise<void> {
    const { client, session, onChange } = this.#options;
    const request = { before: Number.MAX_SAFE_INTEGER, limit: PAGE_EVENTS };
    const reply = await client.query("ListEvents", request, session);
    if (reply.ok) {
      const { events } = reply.answer;
      this.#pages.splice(0, this.#pages.length, blocksOfEvents(events, session, this.#options));
      this.#before = (events[0]?.id ?? 1) - 1;
    }
    onChange();
  }

  async #load(): Promise<void> {
    const { client, session } = this.#options;
    const reply = await client.query("ListEvents", { before: this.#before + 1, limit: PAGE_EVENTS }, session);
    if (!reply.ok) {
      this.#problem = reply.failure.message;
      return;
    }
    const { events } = reply.answer;
    const turn = events.findIndex(({ kind }) => kind === "TurnStarted");
    // A page begins with a turn where it can, so that no call is shown without its beginning.
    const whole = turn === -1 || events[0]?.id === 1 ? events : events.slice(turn);
    const [first] = whole;
    this.#before = first === undefined ? 0 : first.id - 1;
    const blocks = blocksOfEvents(whole, session, this.#options);
    if (blocks.length > 0) this.#pages.push(blocks);
    else if (this.#before > 0) await this.#load();
  }
}
