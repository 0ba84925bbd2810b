import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { Bus } from "../engine/bus.js";
import type { Envelope } from "../protocol/envelope.js";
import type { EventRange } from "../protocol/events.js";
import { nodeClock } from "../system/node-clock.js";
import { Attachments, type SeenEvent, type StoredHistory } from "./attachments.js";
import type { AttachedClient } from "./host.js";
import { MOST_AHEAD, withReplaced } from "./replaced-ids.js";
import type { Run } from "./run.js";

const STORED_LATE = 3;

interface Given {
  readonly replaced?: readonly EventRange[];
  readonly savedTo?: number;
}

function place(published: number, more: Given = {}) {
  const bus = new Bus({ session: "sess_1", originator: "cli_0", clock: nodeClock });
  const log: Envelope[] = [];
  bus.subscribe((event) => log.push(event));
  const state = { savedTo: Number.POSITIVE_INFINITY, replaced: [], saved: async () => {}, ...more };
  const run = Object.assign(state, { bus, session: "sess_1", opening: [] }) as unknown as Run;
  let history: StoredHistory = { events: () => undefined };
  const attachments = new Attachments(run, {
    events: (of, after) => history.events(of, after),
    expiredTo: async (of) => (await history.expiredTo?.(of)) ?? 0,
  });
  const attachAfter = (reader: AttachedClient, seen: number | SeenEvent, stored: StoredHistory) => {
    history = stored;
    return attachments.attachAfter(reader, typeof seen === "number" ? { id: seen } : seen);
  };
  attachments.follow();
  const publish = (count: number) => {
    for (let i = 0; i < count; i++) bus.publish("TextDelta", { text: "a" });
  };
  publish(published);
  const seen: number[] = [];
  const gaps: unknown[] = [];
  const client: AttachedClient = {
    id: "cli_1",
    identity: "human",
    canAnswer: true,
    deliver: ({ id, kind, payload }) => void (kind === "StreamGap" ? gaps.push({ id, ...payload }) : seen.push(id)),
  };
  /** As a store gives them: slowly, without the newest, while the turn goes on. */
  const slowly = async function* (_run: Run, after: number) {
    const stored = log.slice(after, -STORED_LATE);
    for (const event of stored) {
      await new Promise((resolve) => setImmediate(resolve));
      if (event.id % 10 === 0) publish(7);
      yield event;
    }
  };
  return { attachments, attachAfter, publish, client, seen, gaps, log, slowly: { events: slowly }, bus, state };
}

const counted = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe("a client that attaches after an event", () => {
  verifies(["C1"], "gets every later event once and in order, while a turn goes on", async () => {
    const { attachAfter, publish, client, seen, slowly, bus } = place(600);
    expect(await attachAfter(client, 40, slowly)).toBeUndefined();
    publish(5);
    expect(bus.nextId).toBeGreaterThan(900);
    expect(seen).toEqual(counted(41, bus.nextId - 1));
  });

  it.each([0, 1, 599, 600])("gets all that follows %i", async (after) => {
    const { attachAfter, publish, client, seen, slowly, bus } = place(600);
    expect(await attachAfter(client, after, slowly)).toBeUndefined();
    publish(2);
    expect(seen).toEqual(counted(after + 1, bus.nextId - 1));
  });

  verifies(["C3"], "gets events that are not stored from memory, and a report of the lost ones", async () => {
    const nowhere = { events: () => undefined };
    const few = place(20);
    expect(await few.attachAfter(few.client, 5, nowhere)).toBeUndefined();
    expect(few.seen).toEqual(counted(6, 20));
    expect(few.gaps).toEqual([]);
    const many = place(600);
    expect(await many.attachAfter(many.client, 5, nowhere)).toBeUndefined();
    many.publish(1);
    expect(many.gaps).toEqual([{ id: 5, from: 6, to: 344, reason: "not-stored" }]);
    expect(many.seen).toEqual(counted(345, 601));
  });

  verifies(["C3"], "takes the stored events at its own pace, and nothing piles up for it", async () => {
    const { attachAfter, publish, client, seen, log, bus } = place(2000);
    const stored = {
      events: async function* (_run: Run, after: number) {
        yield* log.slice(after);
      },
    };
    const counts: number[] = [];
    const ready = async () => {
      counts.push(seen.length);
      // A fast turn, until the reader has caught up.
      if (seen.length % 2 === 0) publish(1);
      return true;
    };
    expect(await attachAfter({ ...client, ready }, 0, stored)).toBeUndefined();
    publish(2);
    expect(seen).toEqual(counted(1, bus.nextId - 1));
    expect(counts.slice(0, 1000)).toEqual(counted(1, 1000));
  });

  verifies(["C3"], "gets nothing more when it is gone while it catches up", async () => {
    const { attachments, attachAfter, client, seen, log } = place(2000);
    const stored = {
      events: async function* () {
        yield* log;
      },
    };
    const ready = async () => seen.length < 100;
    expect(await attachAfter({ ...client, ready }, 0, stored)).toBeUndefined();
    expect(seen.length).toBe(100);
    expect(attachments.readers).toEqual([]);
  });

  verifies(["C3"], "gets a report of expired events, and the rest", async () => {
    const { attachAfter, client, seen, gaps, slowly } = place(300);
    const history = { ...slowly, expiredTo: async () => 20 };
    expect(await attachAfter(client, 3, history)).toBeUndefined();
    expect(gaps).toEqual([{ id: 3, from: 4, to: 20, reason: "ttl" }]);
    expect(seen[0]).toBe(21);
  });

  verifies(["C3"], "gets a report that events it has seen were lost, and continues from the log", async () => {
    const { attachAfter, client, seen, gaps, slowly, publish } = place(10);
    expect(await attachAfter(client, 14, slowly)).toBeUndefined();
    publish(2);
    expect(gaps).toEqual([{ id: 10, from: 11, to: 14, reason: "lost" }]);
    expect(seen).toEqual([11, 12]);
  });

  verifies(["C3"], "after a crash, gets the events that replace those it has seen last", async () => {
    // The reader has seen 8 to 10; the next run begins with 8 and has its own 8 to 12.
    const replaced = withReplaced([], 7);
    const { attachAfter, client, seen, gaps, slowly, publish } = place(12, { replaced });
    expect(await attachAfter(client, 10, slowly)).toBeUndefined();
    publish(1);
    expect(gaps).toEqual([{ id: 7, from: 8, to: 10, reason: "lost" }]);
    expect(seen).toEqual(counted(8, 13));
    const other = place(12, { replaced });
    expect(await other.attachAfter(other.client, 7, other.slowly)).toBeUndefined();
    expect(other.gaps).toEqual([]);
    const long = place(MOST_AHEAD + 300, { replaced });
    expect(await long.attachAfter(long.client, MOST_AHEAD + 299, long.slowly)).toBeUndefined();
    expect([long.gaps, long.seen]).toEqual([[], [MOST_AHEAD + 300]]);
  });

  verifies(["C3"], "after several crashes, goes back to before the first one that it may have missed", async () => {
    const replaced = withReplaced(withReplaced([], 7), 30);
    const old = place(60, { replaced });
    expect(await old.attachAfter(old.client, 40, old.slowly)).toBeUndefined();
    expect(old.gaps).toEqual([{ id: 7, from: 8, to: 40, reason: "lost" }]);
    const later = place(MOST_AHEAD + 300, { replaced });
    expect(await later.attachAfter(later.client, 7 + MOST_AHEAD + 1, later.slowly)).toBeUndefined();
    expect(later.gaps).toEqual([{ id: 30, from: 31, to: 7 + MOST_AHEAD + 1, reason: "lost" }]);
  });

  verifies(
    ["C3"],
    "continues exactly when it says when its event happened, and that is the event of the log",
    async () => {
      const { attachAfter, client, seen, gaps, slowly, log, publish } = place(600, { replaced: withReplaced([], 7) });
      expect(await attachAfter(client, { id: 20, ts: log[19]?.ts }, slowly)).toBeUndefined();
      expect([gaps, seen[0]]).toEqual([[], 21]);
      publish(1);
      const other = place(600, { replaced: withReplaced([], 7) });
      const ts = "2026-01-01T00:00:00.000Z";
      expect(await other.attachAfter(other.client, { id: 20, ts }, other.slowly)).toBeUndefined();
      expect(other.gaps).toEqual([{ id: 7, from: 8, to: 20, reason: "lost" }]);
    },
  );

  verifies(["C3"], "in another process, does not get events that are far ahead of the log", async () => {
    const { attachments, client, seen, publish, state, log } = place(0, { savedTo: 0 });
    let save = () => {};
    state.saved = () =>
      new Promise<void>((resolve) => {
        save = () => {
          state.savedTo = log.length;
          resolve();
        };
      });
    attachments.attach({ ...client, isRemote: true });
    publish(MOST_AHEAD + 10);
    expect(seen).toEqual(counted(1, MOST_AHEAD));
    save();
    await new Promise((resolve) => setImmediate(resolve));
    publish(1);
    expect(seen).toEqual(counted(1, MOST_AHEAD + 11));
  });

  verifies(["C3"], "in another process, waits while the log holds back text, and gets all of it then", async () => {
    const { attachments, attachAfter, client, seen, gaps, publish, state } = place(0, { savedTo: 0 });
    attachments.attach({ ...client, isRemote: true });
    publish(MOST_AHEAD + 10);
    const turns = () => new Promise((resolve) => setImmediate(resolve));
    await turns();
    publish(10);
    await turns();
    expect(seen).toEqual(counted(1, MOST_AHEAD));
    const late: number[] = [];
    const other = {
      ...client,
      id: "cli_2" as const,
      isRemote: true,
      deliver: ({ id }: Envelope) => void late.push(id),
    };
    const attaching = attachAfter(other, 3, { events: () => undefined });
    await turns();
    expect(late).toEqual(counted(4, MOST_AHEAD));
    state.savedTo = MOST_AHEAD;
    publish(1);
    await attaching;
    publish(1);
    expect([seen, late]).toEqual([counted(1, MOST_AHEAD + 22), counted(4, MOST_AHEAD + 22)]);
    expect(gaps).toEqual([]);
  });

  it("gets each event once when it attaches in the middle of a delivery", async () => {
    const { attachAfter, client, seen, slowly, bus } = place(5);
    let attaching: Promise<unknown> | undefined;
    const stop = bus.subscribe(({ id }) => {
      if (id === 6) bus.publish("TextDelta", { text: "b" });
      if (id === 6) attaching = attachAfter(client, 2, slowly);
    });
    bus.publish("TextDelta", { text: "a" });
    stop();
    await attaching;
    expect(seen).toEqual([3, 4, 5, 6, 7]);
  });

  verifies(["C3", "P4"], "without an event, it gets the questions that are open first", () => {
    const { attachments, client, seen, publish, bus } = place(2);
    const ask = (call: "call_1" | "call_2") =>
      bus.publish("PermissionRequested", { call, tool: "bash", args: {}, summary: "ls" });
    ask("call_1");
    ask("call_2");
    bus.publish("PermissionResolved", { call: "call_1", tool: "bash", decision: "deny", decided_by: "cli_2" });
    attachments.attach(client);
    publish(1);
    expect(seen).toEqual([4, 6]);
  });

  it("gets nothing more once it has detached, also in the middle", async () => {
    const { attachments, attachAfter, client, seen, slowly } = place(600);
    const attaching = attachAfter(client, 0, slowly);
    await new Promise((resolve) => setImmediate(resolve));
    attachments.detach(client.id);
    await attaching;
    expect(seen.length).toBeLessThan(10);
  });

  it("is refused when it is attached already", async () => {
    const { attachments, attachAfter, client, slowly } = place(10);
    attachments.attach(client);
    expect((await attachAfter(client, 3, slowly))?.message).toContain("already attached");
  });
});
