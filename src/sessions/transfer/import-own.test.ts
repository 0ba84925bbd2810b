import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import type { Envelope } from "../../protocol/envelope.js";
import { isId } from "../../protocol/ids.js";
import { derivedId } from "../branch.js";
import { readStoredSession } from "../resume.js";
import { openSqliteStore } from "../sqlite/sqlite-store.js";
import { exportJsonl } from "./export-jsonl.js";
import { importTranscript } from "./import.js";
import {
  call,
  collect,
  OPTIONS,
  OTHER_LOG,
  OTHER_SESSION,
  orderProblems,
  RECORD,
  redactorOf,
  SESSION,
  sampleEvents,
  stream,
} from "./test-support/sample.js";

async function exported(events: readonly Envelope[], record = RECORD): Promise<string[]> {
  return collect(exportJsonl({ ...record, last_event: events.length }, stream(events), OPTIONS));
}

async function imported(lines: readonly string[], options = OPTIONS) {
  const result = await importTranscript(stream(lines), options);
  const events = await collect(result.events);
  return { ...result, events };
}

/** Ids of sessions, logs, turns and calls by the order in which they first appear. */
function withoutIds(lines: readonly string[]): string[] {
  const names = new Map<string, string>();
  return lines.map((line) =>
    line.replace(/"(sess|log|turn|call)_[0-9A-Z]{26}"/g, (id, prefix) => {
      if (!names.has(id)) names.set(id, `"${prefix} ${names.size}"`);
      return names.get(id) ?? id;
    }),
  );
}

describe("import of our own export", () => {
  verifies(["S6"], "gives back the same session with new ids", async () => {
    const lines = await exported(sampleEvents());
    const { record, events, kind, notes } = await imported(lines);
    expect(kind).toBe("oxbow");
    expect(notes).toEqual([]);
    const { pinned: _, last_event: __, active_at: ___, expired_to: ____, ...kept } = RECORD;
    expect(record).toEqual({ ...kept, id: OTHER_SESSION, log: OTHER_LOG });
    expect(orderProblems(events, OTHER_SESSION)).toEqual([]);
    const again = await exported(events, { ...RECORD, ...record });
    expect(again).not.toEqual(lines);
    expect(withoutIds(again)).toEqual(withoutIds(lines));
    const started = events.find(({ kind }) => kind === "ToolCallStarted");
    expect(started?.payload).toMatchObject({ call: derivedId("call", call("H"), OTHER_LOG) });
    expect((await imported(lines)).events).toEqual(events);
  });

  verifies(["S6"], "can be stored and resumed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "oxbow-transfer-"));
    const store = await openSqliteStore({ path: join(folder, "sessions.db"), key: new Uint8Array(32).fill(7) });
    try {
      const { record, events } = await imported(await exported(sampleEvents().slice(0, 16)));
      await store.create(record);
      await store.append(record.id, events, "sync");
      expect(await store.verify(record.id)).toEqual({ ok: true, events: 16 });
      const { rebuilt } = await readStoredSession(store, record.id);
      expect(rebuilt.open).toEqual([]);
      expect(rebuilt.messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)])).toEqual([
        ["user", "text"],
        ["assistant", "thinking", "text", "tool_use", "tool_use"],
        ["user", "tool_result", "tool_result"],
        ["assistant", "text"],
      ]);
    } finally {
      await store.close();
      await rm(folder, { recursive: true });
    }
  });

  verifies(["S6"], "names damaged lines, unknown events and a missing end, and repairs the order", async () => {
    const lines = await exported(sampleEvents());
    const result = 1 + sampleEvents().findIndex(({ kind }) => kind === "ToolResult");
    lines[result] = "{ cut";
    lines[16] = JSON.stringify({
      ...JSON.parse(lines[16] ?? ""),
      payload: { ...sampleEvents()[15]?.payload, turn: 5 },
    });
    lines.splice(20);
    lines.push(JSON.stringify({ ...JSON.parse(lines[4] ?? ""), kind: "SomethingNew" }));
    const { events, notes } = await imported(lines);
    expect(orderProblems(events, OTHER_SESSION)).toEqual([]);
    expect(notes).toEqual([
      "Line 12 was left out: it is not JSON.",
      'Line 17 was left out: "turn" must be a string, got 5.',
      "Lines of unknown kinds were left out: SomethingNew (1).",
      "Results of calls that were lost: 1.",
      "Turns that had lost their end and count as cancelled: 2.",
      "2 of the events are missing in the file: 11, 16.",
      "The file ends at event 19 of 23: the rest is missing.",
    ]);
  });

  it("does without its header", async () => {
    const { record, events } = await imported((await exported(sampleEvents())).slice(1));
    expect(record).toMatchObject({ provider: "anthropic", model: "some-model", cwd: "" });
    expect(record.created_at).toBe("2026-03-01T10:00:00.000Z");
    expect(events).toHaveLength(23);
  });

  it("keeps where it branched off, takes another folder, and refuses the form of a newer program", async () => {
    const branch_of = { session: SESSION, event: 16 };
    const lines = await exported(sampleEvents(), { ...RECORD, branch_of });
    expect((await imported(lines, { ...OPTIONS, cwd: "/elsewhere" } as typeof OPTIONS)).record).toMatchObject({
      branch_of,
      cwd: "/elsewhere",
    });
    const newer = JSON.stringify({ ...JSON.parse(lines[0] ?? ""), version: 2 });
    await expect(importTranscript(stream([newer, ...lines.slice(1)]), OPTIONS)).rejects.toMatchObject({
      code: "incompatible",
    });
  });

  it("hides secrets on the way in", async () => {
    const secret = ["three", "files"].join(" ");
    const redactor = redactorOf((words) => words.replaceAll(secret, "«redacted»"));
    const { events } = await imported(await exported(sampleEvents()), { ...OPTIONS, redactor });
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  it("never fails on damaged lines and always gives a valid order", async () => {
    const lines = await exported(sampleEvents());
    const change = fc.record({
      at: fc.nat(lines.length - 1),
      how: fc.constantFrom("drop", "repeat", "cut", "letter", "swap", "value"),
      place: fc.nat(400),
      letter: fc.constantFrom('"', "{", "}", "0", "x", ",", "\u0000", "\ud83d"),
      value: fc.jsonValue({ maxDepth: 2 }),
      key: fc.constantFrom("id", "kind", "ts", "payload", "session", "originator"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
        const damaged = [...lines];
        for (const { at: offset, how, place, letter, value, key } of changes) {
          const at = offset % damaged.length;
          const line = damaged[at] ?? "";
          if (how === "drop") damaged.splice(at, 1);
          else if (how === "repeat") damaged.splice(place % damaged.length, 0, line);
          else if (how === "cut") damaged[at] = line.slice(0, place);
          else if (how === "letter") damaged[at] = line.slice(0, place) + letter + line.slice(place + 1);
          else if (how === "swap") damaged.push(...damaged.splice(at, 2));
          else
            damaged[at] = line.startsWith("{")
              ? line.replace(`"${key}":`, `"${key}":${JSON.stringify(value)},"was":`)
              : line;
        }
        const { events, record } = await imported(damaged);
        expect(orderProblems(withSortedTimes(events), OTHER_SESSION)).toEqual([]);
        expect(isId("sess", record.id) && isId("log", record.log)).toBe(true);
      }),
      { numRuns: times(60, 200) },
    );
  });
});

/** Lines that were moved keep their times: that is not part of the order. */
function withSortedTimes(events: readonly Envelope[]): Envelope[] {
  const times = events.map(({ ts }) => ts).sort();
  return events.map((event, index) => ({ ...event, ts: times[index] ?? event.ts }));
}

describe("import of something else", () => {
  verifies(["S6"], "says what can be imported", async () => {
    const others = [
      [],
      ["", "  "],
      ["hello"],
      ["[1,2]", "3"],
      ['{"name":"package","version":"1.0.0"}'],
      ['{"type":"unrelated","value":1}'],
    ];
    for (const lines of others) {
      await expect(importTranscript(stream(lines), OPTIONS)).rejects.toMatchObject({
        code: "invalid",
        message: expect.stringContaining("Oxbow imports JSON lines"),
      });
    }
  });
});
