/** Shows what a new process reads of a long session before and during its first turn: the conversation, and no more. */

import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { skipWithout } from "../../test/support/needs.js";
import { times } from "../../test/support/thorough.js";
import { verifies } from "../../test/verifies.js";
import { type Clock, systemClock } from "../base/clock.js";
import { createIdSource } from "../base/ulid.js";
import { openFilesStore } from "./files/files-store.js";
import { SAMPLE_KEY, Script, sampleIds, sampleSession, sampleTime } from "./files/test-support/sample.js";
import { readStoredSession } from "./resume.js";
import { openSqliteStore } from "./sqlite/sqlite-store.js";
import type { SessionStore } from "./store.js";

const TURNS_SINCE = 5;
const ids = createIdSource({ wall: Date.now, random: (bytes) => crypto.getRandomValues(bytes) });

/** Bytes that this process has read of files. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "latin1"))?.[1]);
}

type OpenStore = (folder: string, clock: Clock) => Promise<SessionStore>;

const STORES: Readonly<Record<string, OpenStore>> = {
  files: (folder, clock) => openFilesStore({ folder, key: SAMPLE_KEY, clock }),
  sqlite: (folder) => openSqliteStore({ path: join(folder, "sessions.db"), key: SAMPLE_KEY }),
};

/** A session whose summary stands behind `before` turns, and turns of new processes that follow. */
class LongSession {
  readonly #folder: string;
  readonly #openStore: OpenStore;
  readonly #session = sampleSession(3);
  #script = new Script(this.#session.id);
  #processes = 0;

  constructor(folder: string, openStore: OpenStore) {
    this.#folder = folder;
    this.#openStore = openStore;
  }

  async begin(before: number): Promise<void> {
    const store = await this.#open();
    await store.create(this.#session);
    const written: Promise<void>[] = [];
    for (let turn = 1; turn <= before + TURNS_SINCE; turn++) {
      const script = this.#script;
      script.asks(`question ${turn}`);
      if (turn === before + 1) {
        const payload = { turn: sampleIds(5).next("turn"), reason: "length", summary: "All before." } as const;
        script.add({ kind: "CompactionTriggered", payload });
      }
      script.says(`answer ${turn} `.repeat(50)).paid().ends();
      written.push(store.append(this.#session.id, script.events, "group"));
      this.#script = script.next;
      const call = ids.next("call");
      const intent = { call, session: this.#session.id, tool: "bash", args_hash: "", mutating: false };
      written.push(store.intend({ ...intent, started_at: sampleTime(turn) }));
      written.push(store.conclude(call, { outcome: "ok", completed_at: sampleTime(turn) }));
    }
    await Promise.all(written);
    await store.close();
  }

  /** Answers how many bytes it has read. */
  async turn(): Promise<number> {
    const { id } = this.#session;
    const before = bytesRead();
    const store = await this.#open();
    const lease = await store.lease(id);
    await readStoredSession(store, id);
    expect(await store.editedConversation?.(id)).toBeUndefined();
    const call = ids.next("call");
    const script = this.#script.asks("more").calls(call, "bash").paid();
    await store.append(id, script.events, "sync");
    const fence = { session: id, head: script.events.at(-1)?.id ?? 0 };
    await store.intend(
      { call, session: id, tool: "bash", args_hash: "", mutating: true, started_at: sampleTime(0) },
      fence,
    );
    this.#script = script.next.returns(call, "bash", "done").says("Done.").paid().ends();
    await store.append(id, this.#script.events, "sync");
    await store.conclude(call, { outcome: "ok", completed_at: sampleTime(0) });
    this.#script = this.#script.next;
    await lease.release();
    await store.close();
    return bytesRead() - before;
  }

  /** A minute after the one before. */
  async #open() {
    const later = 60_000 * this.#processes++;
    const clock = { ...systemClock, wall: () => systemClock.wall() + later };
    return this.#openStore(this.#folder, clock);
  }
}

async function bytesOfATurn(openStore: OpenStore, before: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "oxbow-flat-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const session = new LongSession(folder, openStore);
  await session.begin(before);
  // The first process after a long pause looks at each file of the conversation once, and loads code.
  await session.turn();
  await session.turn();
  return session.turn();
}

describe("a turn of a new process", () => {
  for (const [name, openStore] of Object.entries(STORES)) {
    verifies(
      ["S7"],
      `reads as much of a long session as of a short one, when both have a summary (${name})`,
      async (context) => {
        skipWithout(context, "linux");
        const short = await bytesOfATurn(openStore, 20);
        const long = await bytesOfATurn(openStore, times(150, 1000));
        // Finding an event in a longer log takes a few more looks.
        expect(long - short).toBeLessThan(200 * 1024);
        expect(long).toBeLessThan(2 * short);
      },
      120_000,
    );
  }
});
