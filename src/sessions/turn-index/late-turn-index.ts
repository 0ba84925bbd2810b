/**
 * The index of words beside the sessions, opened with the first search that needs it. Most users never make one.
 *
 * 1. It never makes a search or a deletion fail: what it cannot do, the caller does by reading the logs.
 * 2. What cannot be read is deleted and made again: all of it is in the logs.
 * 3. Before content of a session is deleted or expires, its words leave the index. Those of a session that was deleted without Oxbow leave it when
 *    the index is opened.
 */
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { SessionId } from "../../protocol/ids.js";
import { type EventRange, type SessionRecord, StoreError, type TurnIndex, type TurnMatches } from "../store.js";
import type { SqliteTurnIndex } from "./turn-index.js";

export interface LateTurnIndexOptions {
  readonly path: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
  readonly clock: Clock;
  events(session: SessionId, range: EventRange): AsyncIterable<Envelope>;
  /** All sessions, where users may delete them without Oxbow. */
  sessions?(): Promise<readonly SessionId[]>;
}

const NOTHING: TurnMatches = { spans: [], reach: new Map() };
/** Why the file cannot be used any more. */
const USELESS: ReadonlySet<string> = new Set(["damaged", "wrong-key", "incompatible"]);

export class LateTurnIndex implements TurnIndex {
  readonly #options: LateTurnIndexOptions;
  #index: Promise<SqliteTurnIndex> | undefined;

  constructor(options: LateTurnIndexOptions) {
    this.#options = options;
  }

  async find(
    sessions: readonly SessionRecord[],
    words: readonly string[],
    options: Parameters<TurnIndex["find"]>[2],
  ): Promise<TurnMatches> {
    return (await this.#tried((index) => index.find(sessions, words, options))) ?? NOTHING;
  }

  async forget(session: SessionId): Promise<void> {
    if (!existsSync(this.#options.path)) return;
    const done = await this.#tried(async (index) => {
      index.forget(session);
      return true;
    });
    // Rather no index than one with words that should be gone.
    if (done === undefined) await this.#discard();
  }

  async close(): Promise<void> {
    const index = await this.#index?.catch(() => undefined);
    this.#index = undefined;
    index?.close();
  }

  async #tried<T>(work: (index: SqliteTurnIndex) => Promise<T>): Promise<T | undefined> {
    try {
      this.#index ??= this.#open();
      return await work(await this.#index);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      await this.close();
      if (USELESS.has(error.code)) await this.#discard();
      return undefined;
    }
  }

  async #open(): Promise<SqliteTurnIndex> {
    const [{ SqliteTurnIndex }, sessions] = await Promise.all([
      import("./turn-index.js"),
      this.#options.sessions?.(),
      mkdir(dirname(this.#options.path), { recursive: true, mode: 0o700 }),
    ]);
    const index = await SqliteTurnIndex.open(this.#options);
    if (sessions !== undefined) index.keepOnly(sessions);
    return index;
  }

  async #discard(): Promise<void> {
    await this.close();
    const { path } = this.#options;
    for (const file of [path, `${path}-wal`, `${path}-shm`]) await rm(file, { force: true }).catch(() => {});
  }
}
