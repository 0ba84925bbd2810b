import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { createIdSource } from "../base/ulid.js";
import type { Envelope } from "../protocol/envelope.js";
import { EXPIRED } from "../protocol/events.js";
import type { SessionId } from "../protocol/ids.js";
import { type CollectOptions, collect, DEFAULT_RETENTION, dueSoon, markNoticed } from "./retention.js";
import { openSqliteStore } from "./sqlite/sqlite-store.js";
import type { SessionStore } from "./store.js";

const DAY = 24 * 60 * 60 * 1000;
const START = Date.UTC(2026, 0, 1);
const policy = DEFAULT_RETENTION;
const day = (days: number) => START + days * DAY;
let folder: string;
let store: SessionStore;
const ids = createIdSource({ wall: () => START, random: (bytes) => globalThis.crypto.getRandomValues(bytes) });
const client = ids.next("cli");

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-retention-"));
  store = await openSqliteStore({ path: join(folder, "s.db"), key: new Uint8Array(32) });
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

/** A session that said something on each of these days. */
async function session(...days: readonly number[]): Promise<SessionId> {
  const id = ids.next("sess");
  const created_at = new Date(day(days[0] ?? 0)).toISOString();
  await store.create({ id, log: ids.next("log"), cwd: "/p", provider: "p", model: "m", title: "T", created_at });
  await say(id, ...days);
  return id;
}

async function say(id: SessionId, ...days: readonly number[]): Promise<void> {
  const last = (await store.get(id))?.last_event ?? 0;
  const events = days.map((on, i) => {
    const fields = { id: last + 1 + i, session: id, originator: client, ts: new Date(day(on)).toISOString() };
    return { ...fields, kind: "TextDelta", payload: { text: `day ${on}` } } as Envelope;
  });
  await store.append(id, events, "group");
}

async function texts(id: SessionId): Promise<string[]> {
  const found: string[] = [];
  for await (const { payload } of store.events(id)) found.push((payload as { text: string }).text);
  return found;
}

/** Does what the program does when it starts: tidy up, then show the banner. */
async function start(on: number): Promise<{ readonly gone: SessionId[]; readonly banner: SessionId[] }> {
  const gone = await collect(store, day(on), { policy });
  const due = await dueSoon(store, day(on), policy);
  await markNoticed(store, due, day(on));
  return { gone: gone.map(({ session: id }) => id), banner: due.map(({ session: id }) => id) };
}

describe("retention", () => {
  verifies(["S5"], "announces content seven days ahead and lets it go when it is thirty days old", async () => {
    const id = await session(0);
    expect(await start(22.9)).toEqual({ gone: [], banner: [] });
    expect(await dueSoon(store, day(23), policy)).toEqual([
      { session: id, title: "T", cwd: "/p", expires_at: new Date(day(30)).toISOString(), noticed: false },
    ]);
    expect(await start(23)).toEqual({ gone: [], banner: [id] });
    for (const on of [24, 26, 29.9]) expect(await start(on)).toEqual({ gone: [], banner: [id] });
    expect(await texts(id)).toEqual(["day 0"]);
    expect((await dueSoon(store, day(29.9), policy))[0]).toMatchObject({ noticed: true });
    expect(await start(30)).toEqual({ gone: [id], banner: [] });
    expect(await texts(id)).toEqual([EXPIRED]);
    expect(await start(300)).toEqual({ gone: [], banner: [] });
  });

  verifies(["S5"], "lets nothing go without notice, however old", async () => {
    const id = await session(0);
    expect(await collect(store, day(400))).toEqual([]);
    const [due] = await dueSoon(store, day(400), policy);
    expect(due).toMatchObject({ session: id, noticed: false, expires_at: new Date(day(407)).toISOString() });
    expect(await start(400)).toEqual({ gone: [], banner: [id] });
    expect((await dueSoon(store, day(403), policy))[0]?.expires_at).toBe(new Date(day(407)).toISOString());
    expect(await start(406.9)).toEqual({ gone: [], banner: [id] });
    expect(await start(407)).toEqual({ gone: [id], banner: [] });
  });

  verifies(["S5"], "uses the age of the event: younger and unannounced content stays", async () => {
    const id = await session(0, 1, 7, 8, 25);
    // On day 24 the content of days 0 and 1 falls due within the week, that of day 7 and later does not.
    expect(await start(24)).toEqual({ gone: [], banner: [id] });
    await say(id, 26, 30);
    expect(await start(31)).toEqual({ gone: [id], banner: [id] });
    expect(await texts(id)).toEqual([EXPIRED, EXPIRED, "day 7", "day 8", "day 25", "day 26", "day 30"]);
    const record = await store.get(id);
    expect(record).toMatchObject({ expired_to: 2 });
    expect(record).toMatchObject({ expired_to: 2 });
    // The notice of day 31 is for days 7 and 8; it is there from day 38 on.
    expect(await start(37.9)).toEqual({ gone: [], banner: [id] });
    expect(await start(200)).toEqual({ gone: [id], banner: [id] });
    expect(await texts(id)).toEqual([EXPIRED, EXPIRED, EXPIRED, EXPIRED, "day 25", "day 26", "day 30"]);
    expect(await start(207)).toEqual({ gone: [id], banner: [] });
    expect(new Set(await texts(id))).toEqual(new Set([EXPIRED]));
    expect((await store.verify(id)).ok).toBe(true);
  });

  verifies(["S5"], "keeps pinned content, and announces it again after it is unpinned", async () => {
    const id = await session(0);
    await start(25);
    await store.update(id, { pinned: true });
    expect(await start(100)).toEqual({ gone: [], banner: [] });
    await store.update(id, { pinned: false });
    expect(await start(101)).toEqual({ gone: [], banner: [id] });
    expect(await texts(id)).toEqual(["day 0"]);
    expect(await start(108)).toEqual({ gone: [id], banner: [] });
  });

  verifies(["S5"], "reports what would expire without a change", async () => {
    const id = await session(0, 1, 90);
    await start(60);
    const pinned = await session(0);
    await store.update(pinned, { pinned: true, noticed_at: new Date(day(1)).toISOString() });
    const expected = [{ session: id, events: 2, upTo: 2, reason: "older than 30 days, announced on 2026-03-02" }];
    expect(await collect(store, day(70), { dryRun: true })).toEqual(expected);
    expect(await texts(id)).toEqual(["day 0", "day 1", "day 90"]);
    expect(await store.get(pinned)).toHaveProperty("noticed_at");
    expect(await collect(store, day(70))).toEqual(expected);
    expect(await collect(store, day(70))).toEqual([]);
    expect(await texts(id)).toEqual([EXPIRED, EXPIRED, "day 90"]);
    expect(await store.get(pinned)).not.toHaveProperty("noticed_at");
  });

  it("follows another policy, also one shorter than its notice", async () => {
    const short = { days: 2, noticeDays: 7 };
    const options: CollectOptions = { policy: short };
    const id = await session(0);
    await markNoticed(store, await dueSoon(store, day(0.5), short), day(0.5));
    // Written after the notice, which does not cover it.
    await say(id, 1);
    expect(await collect(store, day(7.4), options)).toEqual([]);
    expect(await collect(store, day(7.5), options)).toMatchObject([{ session: id, events: 1, upTo: 1 }]);
    expect(await texts(id)).toEqual([EXPIRED, "day 1"]);
    // A longer time of keeping holds at once for what was announced under a shorter one.
    await store.update(id, { noticed_at: new Date(day(8)).toISOString() });
    expect(await collect(store, day(20), { policy: { days: 365, noticeDays: 7 } })).toEqual([]);
    expect(await texts(id)).toEqual([EXPIRED, "day 1"]);
  });

  it("does not take a notice for older content as one for younger", async () => {
    const id = await session(0, 10);
    await start(24);
    await store.expire(id, 1);
    // As if the process had ended before it could take back the notice.
    expect(await dueSoon(store, day(33), policy)).toMatchObject([{ session: id, noticed: false }]);
    expect(await start(33)).toEqual({ gone: [], banner: [id] });
    expect(await start(39.9)).toEqual({ gone: [], banner: [id] });
    expect(await start(40)).toEqual({ gone: [id], banner: [] });
  });

  it("keeps the events after one whose clock was ahead", async () => {
    const id = await session(0, 500, 1);
    await start(40);
    expect(await start(50)).toMatchObject({ gone: [id] });
    expect(await texts(id)).toEqual([EXPIRED, "day 500", "day 1"]);
  });

  it("continues when one session cannot be read", async () => {
    const [bad, good] = [await session(0), await session(0)];
    await start(30);
    const broken: SessionStore = Object.assign(Object.create(store) as SessionStore, {
      list: () => store.list(),
      update: store.update.bind(store),
      events: store.events.bind(store),
      expire: (id: SessionId, event: number) => store.expire(id, id === bad ? -1 : event),
    });
    const reason = "older than 30 days, announced on 2026-01-31";
    const collected = await collect(broken, day(40));
    expect(collected).toContainEqual({ session: bad, events: 0, upTo: 0, reason, error: "-1 is not an event id." });
    expect(collected).toContainEqual({ session: good, events: 1, upTo: 1, reason });
    expect(await texts(bad)).toEqual(["day 0"]);
  });
});
