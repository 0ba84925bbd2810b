import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { ids } from "../../../test/support/engine.js";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import { text } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import { NO_USAGE } from "../../protocol/usage.js";
import type { SessionStore } from "../store.js";
import { openSqliteStore } from "./sqlite-store.js";

const KEY = new Uint8Array(32).fill(7);
let folder: string;
let whole: Buffer;
let before: string;

const open = (path: string) => openSqliteStore({ path, key: KEY });

/** Everything that the store tells. */
async function contents(store: SessionStore): Promise<string> {
  const records = await store.list();
  const events: Envelope[] = [];
  for (const { id } of records) for await (const event of store.events(id)) events.push(event);
  const orphans = await Promise.all(records.map(({ id }) => store.orphans(id)));
  return JSON.stringify([records, events, orphans, await store.spending()]);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-flips-"));
  const store = await open(join(folder, "a.db"));
  const ts = "2026-01-31T12:00:00.000Z";
  for (let i = 0; i < 6; i++) {
    const session = ids.next("sess");
    const [turn, originator, call] = [ids.next("turn"), ids.next("cli"), ids.next("call")];
    const usage = { ...NO_USAGE, input: 1000 + i, output: 20 };
    await store.create({
      id: session,
      log: ids.next("log"),
      cwd: "/home/me/project",
      provider: "p",
      model: "m",
      created_at: ts,
      title: `The title ${i}`,
    });
    const events = [
      { kind: "TurnStarted", payload: { turn, input: [text(`do ${i} `.repeat(50))] } },
      { kind: "ToolCallStarted", payload: { call, tool: "bash", args: { command: "make" } } },
      {
        kind: "CostIncremented",
        payload: {
          turn,
          provider: "p",
          model: "m",
          usage,
          elapsed_ms: 5,
          cost: { usd: 0.5, input: 0.5, output: 0, cache_read: 0, cache_write: 0 },
        },
      },
    ].map((body, at) => ({ id: at + 1, session, originator, ts, ...body }) as Envelope);
    await store.append(session, events, "sync");
    await store.intend({ call, session, tool: "bash", args_hash: "00", mutating: true, started_at: ts });
  }
  before = await contents(store);
  await store.close();
  whole = await readFile(join(folder, "a.db"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Tells whether anything says so when this bit is another one; what nothing says must change nothing. */
async function report(at: number, bit: number): Promise<"reported" | "harmless" | "silent"> {
  const path = join(folder, "b.db");
  const flipped = Buffer.from(whole);
  flipped.writeUInt8((flipped[at] ?? 0) ^ (1 << bit), at);
  await writeFile(path, flipped);
  let store: SessionStore | undefined;
  try {
    store = await open(path);
    if (((await store.inspect?.()) ?? []).length > 0) return "reported";
    for (const { id } of await store.list()) if (!(await store.verify(id)).ok) return "reported";
    return (await contents(store)) === before ? "harmless" : "silent";
  } catch {
    return "reported";
  } finally {
    await store?.close().catch(() => {});
    for (const end of ["", "-wal", "-shm"]) await rm(`${path}${end}`, { force: true });
  }
}

describe("a single changed bit of the database", () => {
  verifies(
    ["S1"],
    "is reported, or is in bytes that nothing reads",
    async () => {
      let random = 42;
      const next = (most: number) => {
        random = (random * 1103515245 + 12345) & 0x7fffffff;
        return random % most;
      };
      const counts = { reported: 0, harmless: 0, silent: 0 };
      const silent: string[] = [];
      for (let i = 0; i < times(30, 600); i++) {
        // Rows are at the end of their page, so half of the flips go there.
        const at = i % 2 === 0 ? next(whole.length) : next(whole.length / 4096) * 4096 + 3400 + next(696);
        const found = await report(at, next(8));
        counts[found]++;
        if (found === "silent") silent.push(`page ${Math.floor(at / 4096) + 1}, byte ${at % 4096}`);
      }
      expect(silent).toEqual([]);
      expect(counts.reported).toBeGreaterThan(0);
    },
    120_000,
  );
});
