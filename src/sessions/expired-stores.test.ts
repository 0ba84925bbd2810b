import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import type { Envelope } from "../protocol/envelope.js";
import { EVENT_FIELDS, EVENT_KINDS, type EventField } from "../protocol/event-fields.js";
import type { EventKind } from "../protocol/events.js";
import type { JsonObject, JsonValue } from "../protocol/json.js";
import { Database } from "../system/sqlite/database.js";
import { withoutContent } from "./expired.js";
import { openFilesStore } from "./files/files-store.js";
import { databaseKey } from "./sqlite/keys.js";
import { openSqliteStore } from "./sqlite/sqlite-store.js";
import { SAMPLE_KEY, sampleIds, sampleSession, sampleTime } from "./sqlite/test-support/sample.js";
import type { SessionStore } from "./store.js";

const MARKER = "zebra crossing";
/** Too long for one row of any store. */
const LONG = `${MARKER} over the hill\n`.repeat(1200);
const session = sampleSession(1);
const call = sampleIds(4).next("call");
const turn = sampleIds(5).next("turn");

/** The strings that outlive the content: ids and names, fixed words, and what decided. A new one needs a reason to be here. */
const STAYS: Readonly<Partial<Record<EventKind, readonly string[]>>> = {
  TurnStarted: ["route", "variant"],
  InputQueued: ["from"],
  InputSteered: ["from"],
  InputDropped: ["by"],
  ContextAdded: ["source"],
  ThinkingDelta: ["provider"],
  ToolCallStarted: ["tool"],
  ToolResult: ["tool", "decided_by"],
  ToolResultChanged: ["tool", "by"],
  TurnTiming: ["parts"],
  AnswerEnded: ["provider", "model", "route"],
  CostIncremented: ["provider", "model", "route"],
  RateLimited: ["provider", "model", "reason"],
  Retrying: ["provider", "model", "reason"],
  AnswerRetracted: ["reason"],
  FailedOver: ["route", "from", "to", "reason"],
  ModelRouted: ["provider", "model", "route", "rule"],
  Error: ["reason", "originator", "decided_by"],
  Cancelled: ["by"],
  TurnEnded: ["by_model", "failure"],
  PermissionRequested: ["tool", "subagent"],
  PermissionResolved: ["tool", "decided_by"],
  CompactionTriggered: ["reason"],
  ContextNearlyFull: ["model"],
  SubagentStarted: ["session", "type", "provider", "model"],
  SubagentProgress: ["session", "type"],
  SubagentEnded: ["session", "type"],
  ModeChanged: ["by"],
  RerunBegan: ["of"],
  StreamGap: ["reason"],
  TokenExpiring: ["jti", "expires_at"],
  HookTimeout: ["event"],
  HookError: ["event"],
  MCPServerDown: ["name"],
  SkillRegistryChanged: ["added", "removed"],
  CustomEvent: ["namespace", "kind"],
};

/** A value of this schema with the words in every string of it. */
function filled(schema: JsonObject, words: string): JsonValue {
  if (Array.isArray(schema.enum)) return schema.enum[0] as JsonValue;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.anyOf)) return filled(schema.anyOf[0] as JsonObject, words);
  switch (schema.type) {
    case "string":
      return words;
    case "number":
    case "integer":
      return 1;
    case "boolean":
      return true;
    case "array": {
      const items = schema.items as JsonObject;
      const every = Array.isArray(items.anyOf) ? (items.anyOf as JsonObject[]) : [items];
      return every.map((item) => filled(item, words));
    }
    case "object": {
      const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonObject>);
      if (schema.additionalProperties !== undefined) return { [words.slice(0, 40)]: 1 };
      // Without declared fields it may hold anything.
      if (properties.length === 0) return { deep: [{ [words.slice(0, 40)]: words }] };
      return Object.fromEntries(properties.map(([name, field]) => [name, filled(field, words)]));
    }
    default:
      return { any: words };
  }
}

/** Ids of calls and turns stay ids: stores look them up. `pick` chooses the fields that get the words. */
function eventOf(kind: EventKind, id: number, pick: (name: string) => boolean): Envelope {
  const fields: readonly (readonly [string, EventField])[] = Object.entries(EVENT_FIELDS[kind]);
  const words = id % 2 === 0 ? MARKER : LONG;
  const payload = fields.map(([name, { schema }]) => {
    const isId = name === "call" || name === "turn";
    return [name, isId ? { call, turn }[name] : filled(schema, pick(name) ? words : "kept")];
  });
  const elsewhere = ["field_of_another_program", { deep: words }];
  return {
    id,
    kind,
    session: session.id,
    originator: "cli_1",
    ts: sampleTime(id),
    payload: Object.fromEntries([...payload, elsewhere]),
  } as unknown as Envelope;
}

const stays = (kind: EventKind, name: string) => STAYS[kind]?.includes(name) === true;
const events = () => EVENT_KINDS.map((kind, at) => eventOf(kind, at + 1, (name) => !stays(kind, name)));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-expired-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function fillAndExpire(store: SessionStore): Promise<void> {
  const written = events();
  await store.create({ ...session });
  await store.append(session.id, written, "sync");
  const before = [];
  for await (const event of store.events(session.id)) before.push(event);
  expect(JSON.stringify(before)).toContain(MARKER);
  await store.expire(session.id, written.length);
  const after = [];
  for await (const event of store.events(session.id)) after.push(event);
  expect(after).toHaveLength(written.length);
  expect(after.filter((event) => JSON.stringify(event).includes(MARKER))).toEqual([]);
  expect(await store.verify(session.id)).toMatchObject({ ok: true });
  await store.close();
}

async function filesBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

describe("what outlives the content of an event", () => {
  it.each(EVENT_KINDS)("is on the list of %s", (kind) => {
    const left = withoutContent(eventOf(kind, 2, () => true)).payload as unknown as Record<string, unknown>;
    const holders = Object.entries(left).filter(([, value]) => JSON.stringify(value).includes(MARKER));
    expect(holders.map(([name]) => name).sort()).toEqual([...(STAYS[kind] ?? [])].sort());
  });

  it("has a row of its own where only optional fields disappear", () => {
    for (const fields of Object.values(EVENT_FIELDS) as Readonly<Record<string, EventField>>[]) {
      for (const [name, { holds, optional }] of Object.entries(fields)) {
        if (["extra", "shape", "opaque"].includes(holds)) expect(optional, name).toBe(true);
      }
    }
  });
});

describe("content of every kind of event that has expired", () => {
  verifies(["S5"], "is in no file of the store of plain files", async () => {
    await fillAndExpire(await openFilesStore({ folder, key: SAMPLE_KEY }));
    const files = await filesBelow(folder);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(await readFile(file, "utf8"), file).not.toContain(MARKER);
  });

  verifies(["S5"], "is in no row of the encrypted store", async () => {
    const path = join(folder, "sessions.db");
    await fillAndExpire(await openSqliteStore({ path, key: SAMPLE_KEY }));
    const database = await Database.open({ path, key: databaseKey(SAMPLE_KEY) });
    try {
      const tables = database
        .select({ name: "text" }, "FROM sqlite_schema WHERE type = 'table'")
        .map(({ name }) => name);
      expect(tables).toContain("events");
      for (const table of tables) {
        const columns = database.select({ name: "text" }, `FROM pragma_table_info('${table}')`);
        for (const { name } of columns) {
          const found = database.select(
            { n: ["integer", "count(*)"] },
            `FROM "${table}" WHERE instr("${name}", '${MARKER}') > 0`,
          );
          expect(found[0]?.n, `${table}.${name}`).toBe(0);
        }
      }
      // Long content is compressed in blobs, where no search finds it.
      expect(database.select({ n: ["integer", "count(*)"] }, "FROM blobs")[0]?.n).toBe(0);
    } finally {
      database.close();
    }
  });
});
