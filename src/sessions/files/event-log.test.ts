import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { SessionStore } from "../store.js";
import { openFilesStore } from "./files-store.js";
import { SAMPLE_KEY, sampleEvent, sampleEvents, sampleSession } from "./test-support/sample.js";

const session = sampleSession(1);
let folder: string;
let store: SessionStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-log-"));
  store = await openFilesStore({ folder, key: SAMPLE_KEY });
  await store.create(session);
});

afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

async function read(after: number, limit: number): Promise<Envelope[]> {
  const events: Envelope[] = [];
  for await (const event of store.events(session.id, { after, limit })) events.push(event);
  return events;
}

/** Longer than everything that is read in one piece. */
const long = (id: number): Envelope =>
  ({ ...sampleEvent(session.id, id), kind: "ThinkingDelta", payload: { text: "é".repeat(400_000) } }) as Envelope;

describe("the log of a session", () => {
  verifies(["S1"], "is entered anywhere, also between very long lines", async () => {
    const events = [
      ...sampleEvents(session.id, 1, 900),
      long(901),
      ...sampleEvents(session.id, 902, 902),
      long(903),
      ...sampleEvents(session.id, 904, 2000),
    ];
    await store.append(session.id, events, "group");
    for (const after of [0, 1, 450, 899, 900, 901, 902, 903, 904, 1500, 1998, 1999]) {
      expect(await read(after, 2), `after ${after}`).toEqual(events.slice(after, after + 2));
    }
    expect(await read(2000, 5)).toEqual([]);
    expect(await read(5000, 5)).toEqual([]);
  });

  verifies(["S1"], "is looked through from its end, whatever the length of the lines", async () => {
    await store.append(session.id, [long(1), ...sampleEvents(session.id, 2, 300), long(301)], "group");
    expect(await store.last(session.id, "ThinkingDelta")).toBe(301);
    expect(await store.last(session.id, "TextDelta")).toBe(300);
    expect(await store.last(session.id, "Cancelled")).toBeUndefined();
    expect(await store.get(session.id)).toMatchObject({ last_event: 301 });
    await store.append(session.id, sampleEvents(session.id, 302, 302), "group");
    expect(await store.last(session.id, "ThinkingDelta")).toBe(301);
    expect(await store.verify(session.id)).toEqual({ ok: true, events: 302 });
  });
});
