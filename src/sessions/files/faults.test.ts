import { spawn } from "node:child_process";
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { buildChildPrograms, type ChildPrograms, follow } from "../../../test/support/child-programs.js";
import { skipWithout } from "../../../test/support/needs.js";
import { times } from "../../../test/support/thorough.js";
import { withSmallDisk } from "../../../test/support/undo-at-end.js";
import { verifies } from "../../../test/verifies.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { LogProblem, SessionStore } from "../store.js";
import { openFilesStore } from "./files-store.js";
import { LineFile } from "./line-file.js";
import {
  SAMPLE_KEY,
  Script,
  sampleEvent,
  sampleEvents,
  sampleIds,
  sampleSession,
  sampleTime,
} from "./test-support/sample.js";

const KILLS = times(8, 24);
const AT_ONCE = 2;
const SEED = 20260131;
let folder: string;
let children: ChildPrograms;
const session = sampleSession(1);

beforeAll(async () => {
  children = await buildChildPrograms(import.meta.url, "writer");
});
afterAll(() => children.discard());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-faults-"));
});
afterEach(() => rm(folder, { recursive: true }));

const open = (key: Uint8Array | undefined = SAMPLE_KEY) => openFilesStore({ folder, ...(key && { key }) });
const part = (name: string, id = session.id) => join(folder, id, name);

async function fill(events: number): Promise<SessionStore> {
  const store = await open();
  await store.create(session);
  await store.append(session.id, sampleEvents(session.id, 1, events), "group");
  return store;
}

async function all(store: SessionStore, id = session.id): Promise<Envelope[]> {
  const events: Envelope[] = [];
  for await (const event of store.events(id)) events.push(event);
  return events;
}

interface Acknowledged {
  readonly events: number;
  readonly intended: readonly string[];
  readonly concluded: readonly string[];
  readonly refused: readonly string[];
}

function acknowledged(out: string): Acknowledged {
  // A line that was cut by the kill says nothing.
  const lines = out.slice(0, out.lastIndexOf("\n") + 1).split("\n");
  const of = (letter: string) => lines.filter((line) => line.startsWith(letter)).map((line) => line.slice(2));
  return { events: Number(of("e").at(-1) ?? 0), intended: of("i"), concluded: of("c"), refused: of("x") };
}

async function check(root: string, seed: number, known: Acknowledged): Promise<void> {
  const store = await openFilesStore({ folder: root, key: SAMPLE_KEY });
  const { id } = sampleSession(seed);
  const last = (await store.get(id))?.last_event;
  if (last === undefined) {
    expect(known.events).toBe(0);
  } else {
    expect(last).toBeGreaterThanOrEqual(known.events);
    expect(await store.verify(id)).toEqual({ ok: true, events: last });
    expect((await all(store, id)).map((event) => event.id)).toEqual(Array.from({ length: last }, (_, i) => i + 1));
    const orphans = new Set((await store.orphans(id)).map(({ call }) => call as string));
    const ended = new Set(known.concluded);
    // The conclusion that was under way may have been written without having been acknowledged.
    expect(known.intended.filter((call) => !ended.has(call) && !orphans.has(call)).length).toBeLessThanOrEqual(1);
    expect(known.concluded.filter((call) => orphans.has(call))).toEqual([]);
    expect(await store.editedConversation?.(id), "no user has edited a file").toBeUndefined();
  }
  await store.close();
}

function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("faults", () => {
  verifies(
    ["S1", "S3", "S7", "S11"],
    "a killed process loses nothing that was acknowledged, and its messages are not taken for edits",
    async () => {
      const random = seededRandom(SEED);
      let told = 0;
      let writing = 0;
      const rounds = Array.from({ length: AT_ONCE }, async (_, index) => {
        const root = join(folder, `${index}`);
        for (let kill = 0; kill < KILLS / AT_ONCE; kill++) {
          const child = children.start("writer", root, "1", "1000000");
          // Some die while they open, most while they write.
          const early = (kill * AT_ONCE + index) % 5 === 0;
          if (!early) {
            writing += 1;
            await new Promise((resolve) => child.process.stdout?.once("data", resolve));
          }
          await new Promise((resolve) => setTimeout(resolve, random() * (early ? 150 : 40)));
          child.process.kill("SIGKILL");
          const { out, err } = await child.end;
          expect(err).toBe("");
          const known = acknowledged(out);
          expect(known.refused).toEqual([]);
          await check(root, 1, known);
          if (known.events > 0) told += 1;
        }
        const left = await readdir(join(root, sampleSession(1).id, "messages"));
        expect(left.filter((name) => !/^\d{4}-(user|assistant|tool_result)\.md$/.test(name))).toEqual([]);
      });
      await Promise.all(rounds);
      expect(told).toBeGreaterThanOrEqual(writing);
      expect(writing).toBeGreaterThan(KILLS / 2);
    },
    120_000,
  );

  verifies(["S1"], "several processes write at once, to their own sessions and to one together", async () => {
    const own = [1, 2].map((seed) => children.start("writer", folder, `${seed}`, "80").end);
    const shared = [3, 3, 3].map((seed) => children.start("writer", folder, `${seed}`, "80", "join").end);
    for (const [i, { code, out, err }] of (await Promise.all(own)).entries()) {
      expect({ code, err }).toEqual({ code: 0, err: "" });
      const known = acknowledged(out);
      expect(known).toMatchObject({ events: 80, refused: [] });
      await check(folder, i + 1, known);
    }
    const ends = await Promise.all(shared);
    const said = ends.map(({ code, out, err }) => {
      expect({ code, err }).toEqual({ code: 0, err: "" });
      return out.split("\n").filter((line) => line.startsWith("e "));
    });
    // Every event was acknowledged to one of them only.
    const everything = said.flat();
    expect(new Set(everything).size).toBe(everything.length);
    const store = await open();
    const last = (await store.get(sampleSession(3).id))?.last_event ?? 0;
    expect(last).toBeGreaterThanOrEqual(80);
    expect(await store.verify(sampleSession(3).id)).toEqual({ ok: true, events: last });
    await store.close();
  });

  verifies(["S1"], "a torn last line is cut off, and nothing before it", async () => {
    await (await fill(3)).close();
    await appendFile(part("events.jsonl"), '{"id":4,"kind":"TextDelta","payl');
    await appendFile(part("ledger.jsonl"), '{"intent":{"call');
    const store = await open();
    expect(await store.get(session.id)).toMatchObject({ last_event: 3 });
    expect(await all(store)).toEqual(sampleEvents(session.id, 1, 3));
    expect(await store.orphans(session.id)).toEqual([]);
    expect(await store.verify(session.id)).toEqual({ ok: true, events: 3 });
    await store.append(session.id, [sampleEvent(session.id, 4)], "sync");
    const call = sampleIds(3).next("call");
    const intent = {
      call,
      session: session.id,
      tool: "bash",
      args_hash: "h",
      mutating: true,
      started_at: sampleTime(1),
    };
    await store.intend(intent);
    expect(await store.orphans(session.id)).toEqual([intent]);
    expect(await store.verify(session.id)).toEqual({ ok: true, events: 4 });
    await store.close();
    expect((await readFile(part("events.jsonl"), "utf8")).split("\n")).toHaveLength(5);
  });

  it("finishes what a crash left of making and removing sessions", async () => {
    await mkdir(join(folder, ".gone-0011"));
    await writeFile(join(folder, ".gone-0011", "events.jsonl"), "secret");
    await mkdir(join(folder, ".new-0022"));
    const store = await open();
    expect((await readdir(folder)).sort()).toEqual([".new-0022"]);
    expect(await store.list()).toEqual([]);
    await store.close();
  });

  verifies(["S11"], "finds a missing, moved, repeated or unreadable event", async () => {
    type Change = (lines: string[]) => string[];
    const cases: readonly (readonly [problem: LogProblem, event: number, change: Change])[] = [
      ["changed", 4, (lines) => lines.toSpliced(3, 0, lines[2] ?? "")],
      ["changed", 5, (lines) => lines.with(4, (lines[4] ?? "").replace(/"session":"sess_../, '"session":"sess_ZZ'))],
      ["missing", 3, (lines) => lines.with(2, lines[3] ?? "").with(3, lines[2] ?? "")],
      ["missing", 5, (lines) => lines.toSpliced(4, 1)],
      ["missing", 1, (lines) => lines.slice(1)],
      ["changed", 5, (lines) => lines.with(4, (lines[4] ?? "").replace(/"payload":.*/, '"payload":{}}'))],
      ["changed", 5, (lines) => lines.with(4, (lines[4] ?? "").replace(/"payload":.*/, '"payload":{"text":7}}'))],
      ["unreadable", 5, (lines) => lines.with(4, "{}")],
      ["unreadable", 5, (lines) => lines.with(4, (lines[4] ?? "").slice(0, 60))],
      ["unreadable", 5, (lines) => lines.with(4, (lines[4] ?? "").replace(/"payload":.*/, '"payload":7}'))],
    ];
    for (const [problem, event_id, change] of cases) {
      await (await fill(10)).close();
      const lines = (await readFile(part("events.jsonl"), "utf8")).trimEnd().split("\n");
      const text = change(lines).map((line) => `${line}\n`);
      await writeFile(part("events.jsonl"), text.join(""));
      const store = await open();
      expect(await store.verify(session.id), `${problem} ${event_id}`).toMatchObject({ ok: false, problem, event_id });
      await expect(all(store)).rejects.toMatchObject({ code: "damaged" });
      await store.close();
      await rm(part(""), { recursive: true });
    }
  });

  verifies(["S1", "S7"], "honours an edit of the log, and drops expired content for good", async () => {
    const store = await fill(10);
    await store.expire(session.id, 6);
    expect(await store.verify(session.id)).toEqual({ ok: true, events: 10 });
    const read = await all(store);
    expect(read.slice(6)).toEqual(sampleEvents(session.id, 7, 10));
    expect(JSON.stringify(read.slice(0, 6))).not.toContain("quick");
    const text = await readFile(part("events.jsonl"), "utf8");
    expect(text.split("\n").slice(0, 6).join()).not.toContain("quick");
    await writeFile(part("events.jsonl"), text.replace("quick", "quiet"));
    expect(await store.verify(session.id)).toEqual({ ok: true, events: 10 });
    expect(JSON.stringify((await all(store))[6])).toContain("quiet");
    await store.close();
  });

  verifies(["S1", "S7"], "reads and continues the log of an earlier version, whose lines have links", async () => {
    const made = await fill(4);
    await made.expire(session.id, 2);
    await made.close();
    const link = "0123456789abcdef".repeat(2);
    const lines = (await readFile(part("events.jsonl"), "utf8")).trimEnd().split("\n");
    const linked = lines.map((line, i) => {
      const expired = i < 2 ? `"was":"${link}","remains":"${link}",` : "";
      return line.replace('"payload":', `"link":"${link}",${expired}"payload":`);
    });
    await writeFile(part("events.jsonl"), `${linked.join("\n")}\n`);
    await writeFile(part("events.head"), `{"event":"0000000000000004","link":"${link}","seal":"${link}"}\n`);
    const store = await open();
    await store.append(session.id, sampleEvents(session.id, 5, 6), "sync");
    expect(await store.verify(session.id)).toEqual({ ok: true, events: 6 });
    expect((await all(store)).slice(2)).toEqual(sampleEvents(session.id, 3, 6));
    await store.expire(session.id, 5);
    expect((await all(store)).slice(5)).toEqual(sampleEvents(session.id, 6, 6));
    expect((await readdir(part(""))).sort()).not.toContain("events.head");
    await store.close();
  });

  verifies(
    ["S11"],
    "does not open a session with another key, without one, or with one where there was none",
    async () => {
      await (await fill(2)).close();
      const refused = async (key: Uint8Array | undefined, message: RegExp) => {
        const store = await (key === undefined ? openFilesStore({ folder }) : open(key));
        const refusal = { code: "wrong-key", message: expect.stringMatching(message) };
        await expect(all(store)).rejects.toMatchObject(refusal);
        await expect(store.verify(session.id)).rejects.toMatchObject(refusal);
        await expect(store.append(session.id, [sampleEvent(session.id, 3)], "sync")).rejects.toMatchObject(refusal);
        expect(await store.list()).toHaveLength(1);
        await store.close();
      };
      await refused(new Uint8Array(32), /with another key/);
      await refused(undefined, /with a key/);
      await rm(part(""), { recursive: true });
      const plain = await openFilesStore({ folder });
      await plain.create(session);
      await plain.close();
      await refused(SAMPLE_KEY, /without a key/);
      await expect(open(new Uint8Array(5))).rejects.toMatchObject({ code: "invalid" });
    },
  );

  it("says which part of a session is spoiled, and lists the others", async () => {
    const store = await fill(2);
    await store.create(sampleSession(2));
    await store.close();
    const conf = await readFile(part("session.conf"), "utf8");
    const cases: readonly (readonly [file: string, content: string, message: RegExp])[] = [
      ["session.conf", conf.replace(/^cwd=.*\n/m, ""), /session\.conf has no line 'cwd='/],
      ["session.conf", conf.replace(/^id=.*/m, `id=${sampleSession(2).id}`), /is of another session/],
      ["session.conf", `${conf}ended=tired\n`, /'ended=tired', which is not one of/],
      ["session.conf", conf.replace(/^created_at=.*/m, "created_at=today"), /'created_at=today', which is not a time/],
    ];
    for (const [file, content, message] of cases) {
      const before = await readFile(part(file));
      await writeFile(part(file), content);
      const again = await open();
      await expect(again.get(session.id)).rejects.toMatchObject({
        code: "damaged",
        message: expect.stringMatching(message),
      });
      expect((await again.list()).map(({ id }) => id)).toEqual([sampleSession(2).id]);
      await again.close();
      await writeFile(part(file), before);
    }
  });

  it("lists a session whose log is missing or damaged, and reports that on a read", async () => {
    const store = await fill(2);
    await store.create(sampleSession(2));
    await store.close();
    const log = await readFile(part("events.jsonl"));
    const cases: readonly (readonly [content: string | undefined, message: RegExp])[] = [
      ["rubbish\n", /log of this session is damaged/],
      [undefined, /events\.jsonl is missing/],
    ];
    for (const [content, message] of cases) {
      if (content === undefined) await rm(part("events.jsonl"));
      else await writeFile(part("events.jsonl"), content);
      const again = await open();
      const damaged = { code: "damaged", message: expect.stringMatching(message) };
      expect((await again.list()).map(({ id }) => id).sort()).toEqual([session.id, sampleSession(2).id].sort());
      expect(await again.get(session.id)).toMatchObject({ last_event: 0 });
      await expect(all(again)).rejects.toMatchObject(damaged);
      await expect(again.append(session.id, sampleEvents(session.id, 3, 3), "sync")).rejects.toMatchObject({
        code: "damaged",
      });
      await again.close();
      await writeFile(part("events.jsonl"), log);
    }
  });

  it("keeps what people write into session.conf", async () => {
    const store = await fill(2);
    const conf = await readFile(part("session.conf"), "utf8");
    await writeFile(part("session.conf"), `${conf.replace(/^title=.*/m, "title = My  title ")}# mine\nlabel=x\n`);
    expect(await store.get(session.id)).toMatchObject({ title: "My  title" });
    await store.update(session.id, { pinned: true, title: "two\nlines", noticed_at: sampleTime(5) });
    expect(await store.get(session.id)).toMatchObject({ title: "two\nlines", pinned: true, noticed_at: sampleTime(5) });
    await store.update(session.id, { noticed_at: null });
    const after = await readFile(part("session.conf"), "utf8");
    expect(after).toMatch(/^title="two\\nlines"$/m);
    expect(after).toMatch(/^# mine\nlabel=x$/m);
    expect(after).not.toMatch(/noticed_at/);
    await store.close();
  });

  verifies(
    ["S1"],
    "a full disk refuses an append that does not fit, shows no part of it, and loses nothing",
    async (context) => {
      const disk = join(folder, "disk");
      await withSmallDisk(context, { folder: disk, size: "256k" }, async (resize) => {
        const { code, out, err } = await children.start("writer", join(disk, "s"), "1", "1000000").end;
        expect({ code, err }).toEqual({ code: 0, err: "" });
        const known = acknowledged(out);
        expect(known.refused[0]).toBe("full");
        expect(known.events).toBeGreaterThan(0);
        const store = await openFilesStore({ folder: join(disk, "s"), key: SAMPLE_KEY });
        const last = (await store.get(session.id))?.last_event ?? 0;
        expect(last).toBeGreaterThanOrEqual(known.events);
        expect(await store.verify(session.id)).toEqual({ ok: true, events: last });
        await expect(store.create(sampleSession(2))).rejects.toMatchObject({ code: "full" });
        expect((await readdir(join(disk, "s"))).filter((name) => name.startsWith(".new"))).toEqual([]);
        expect(await store.list()).toHaveLength(1);
        await store.close();
        // With room again it goes on, and the messages that had no room are written.
        resize("4m");
        await check(join(disk, "s"), 1, known);
        const later = await openFilesStore({ folder: join(disk, "s"), key: SAMPLE_KEY });
        await later.append(session.id, new Script(session.id, last + 1).asks("more").ends().events, "sync");
        expect(await later.editedConversation?.(session.id)).toBeUndefined();
        await later.close();
      });
    },
  );

  verifies(["S1"], "a write that stops in the middle leaves the log as it was", async (context) => {
    skipWithout(context, "posix");
    // In blocks of 512 or 1024 bytes: the log cannot grow beyond them.
    const command = 'ulimit -f 24; trap "" XFSZ; exec "$@"';
    const program = [process.execPath, children.path("writer"), join(folder, "s"), "1", "1000000"];
    const { code, out, err } = await follow(spawn("sh", ["-c", command, "sh", ...program])).end;
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const known = acknowledged(out);
    expect(known.refused[0]).toBe("full");
    const log = join(folder, "s", session.id, "events.jsonl");
    expect((await readFile(log, "utf8")).endsWith("}\n")).toBe(true);
    await check(join(folder, "s"), 1, known);
  });

  verifies(["S1", "S3"], "has the log and the ledger on the disk when a mutating call begins", async () => {
    const store = await fill(3);
    const synced: string[] = [];
    const { sync } = LineFile.prototype;
    const spied = vi.spyOn(LineFile.prototype, "sync").mockImplementation(function (this: LineFile) {
      synced.push(this.path);
      return sync.call(this);
    });
    try {
      const intent = { session: session.id, tool: "bash", args_hash: "h", started_at: sampleTime(1) };
      const calls = sampleIds(3);
      await store.intend({ ...intent, call: calls.next("call"), mutating: false });
      expect(synced).toEqual([]);
      await store.intend({ ...intent, call: calls.next("call"), mutating: true });
      expect(synced.splice(0)).toEqual([part("events.jsonl"), part("ledger.jsonl")]);
      await store.append(session.id, [sampleEvent(session.id, 4)], "group");
      expect(synced).toEqual([]);
      await store.close();
      expect(synced).toEqual([part("events.jsonl")]);
    } finally {
      spied.mockRestore();
    }
  });

  it("refuses a folder that cannot be made", async () => {
    await writeFile(join(folder, "in-the-way"), "");
    const opened = openFilesStore({ folder: join(folder, "in-the-way", "sessions") });
    await expect(opened.then((store) => store.create(session))).rejects.toMatchObject({ code: "unavailable" });
  });
});
