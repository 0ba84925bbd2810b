import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { Bus } from "../engine/bus.js";
import type { Envelope } from "../protocol/envelope.js";
import { nodeClock } from "../system/node-clock.js";
import { Attachments } from "./attachments.js";
import type { AttachedClient } from "./host.js";
import type { Run } from "./run.js";

const STORED_LATE = 3;

function place(published: number, more: { readonly replacesFrom?: number } = {}) {
  const bus = new Bus({ session: "sess_1", originator: "cli_0", clock: nodeClock });
  const log: Envelope[] = [];
  bus.subscribe((event) => log.push(event));
  const run = { bus, session: "sess_1", opening: [], saved: async () => {}, ...more } as unknown as Run;
  const attachments = new Attachments(run);
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
  return { attachments, publish, client, seen, gaps, log, slowly: { events: slowly }, bus };
}

const counted = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe("a client that attaches after an event", () => {
  verifies(["C1"], "gets every later event once and in order, while a turn goes on", async () => {
    const { attachments, publish, client, seen, slowly, bus } = place(600);
    expect(await attachments.attachAfter(client, 40, slowly)).toBeUndefined();
    publish(5);
    expect(bus.nextId).toBeGreaterThan(900);
    expect(seen).toEqual(counted(41, bus.nextId - 1));
  });

  it.each([0, 1, 599, 600])("gets all that follows %i", async (after) => {
    const { attachments, publish, client, seen, slowly, bus } = place(600);
    expect(await attachments.attachAfter(client, after, slowly)).toBeUndefined();
    publish(2);
    expect(seen).toEqual(counted(after + 1, bus.nextId - 1));
  });

  verifies(["C3"], "gets events that are not stored from memory, and a report of the lost ones", async () => {
    const nowhere = { events: () => undefined };
    const few = place(20);
    expect(await few.attachments.attachAfter(few.client, 5, nowhere)).toBeUndefined();
    expect(few.seen).toEqual(counted(6, 20));
    expect(few.gaps).toEqual([]);
    const many = place(600);
    expect(await many.attachments.attachAfter(many.client, 5, nowhere)).toBeUndefined();
    many.publish(1);
    expect(many.gaps).toEqual([{ id: 5, from: 6, to: 344, reason: "not-stored" }]);
    expect(many.seen).toEqual(counted(345, 601));
  });

  verifies(["C3"], "takes the stored events at its own pace, and nothing piles up for it", async () => {
    const { attachments, publish, client, seen, log, bus } = place(2000);
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
    expect(await attachments.attachAfter({ ...client, ready }, 0, stored)).toBeUndefined();
    publish(2);
    expect(seen).toEqual(counted(1, bus.nextId - 1));
    expect(counts.slice(0, 1000)).toEqual(counted(1, 1000));
  });

  verifies(["C3"], "gets nothing more when it is gone while it catches up", async () => {
    const { attachments, client, seen, log } = place(2000);
    const stored = {
      events: async function* () {
        yield* log;
      },
    };
    const ready = async () => seen.length < 100;
    expect(await attachments.attachAfter({ ...client, ready }, 0, stored)).toBeUndefined();
    expect(seen.length).toBe(100);
    expect(attachments.readers).toEqual([]);
  });

  verifies(["C3"], "gets a report of expired events, and the rest", async () => {
    const { attachments, client, seen, gaps, slowly } = place(300);
    const history = { ...slowly, expiredTo: async () => 20 };
    expect(await attachments.attachAfter(client, 3, history)).toBeUndefined();
    expect(gaps).toEqual([{ id: 3, from: 4, to: 20, reason: "ttl" }]);
    expect(seen[0]).toBe(21);
  });

  verifies(["C3"], "gets a report that events it has seen were lost, and continues from the log", async () => {
    const { attachments, client, seen, gaps, slowly, publish } = place(10);
    expect(await attachments.attachAfter(client, 14, slowly)).toBeUndefined();
    publish(2);
    expect(gaps).toEqual([{ id: 10, from: 11, to: 14, reason: "lost" }]);
    expect(seen).toEqual([11, 12]);
  });

  verifies(["C3"], "after a crash, gets the events that replace those it has seen last", async () => {
    // The reader has seen 8 to 10; the next run begins with 8 and has its own 8 to 12.
    const { attachments, client, seen, gaps, slowly, publish } = place(12, { replacesFrom: 8 });
    expect(await attachments.attachAfter(client, 10, slowly)).toBeUndefined();
    publish(1);
    expect(gaps).toEqual([{ id: 7, from: 8, to: 10, reason: "lost" }]);
    expect(seen).toEqual(counted(8, 13));
    const other = place(12, { replacesFrom: 8 });
    expect(await other.attachments.attachAfter(other.client, 7, other.slowly)).toBeUndefined();
    expect(other.gaps).toEqual([]);
    const long = place(600, { replacesFrom: 8 });
    expect(await long.attachments.attachAfter(long.client, 599, long.slowly)).toBeUndefined();
    expect([long.gaps, long.seen]).toEqual([[], [600]]);
  });

  it("gets each event once when it attaches in the middle of a delivery", async () => {
    const { attachments, client, seen, slowly, bus } = place(5);
    let attaching: Promise<unknown> | undefined;
    const stop = bus.subscribe(({ id }) => {
      if (id === 6) bus.publish("TextDelta", { text: "b" });
      if (id === 6) attaching = attachments.attachAfter(client, 2, slowly);
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
    const { attachments, client, seen, slowly } = place(600);
    const attaching = attachments.attachAfter(client, 0, slowly);
    await new Promise((resolve) => setImmediate(resolve));
    attachments.detach(client.id);
    await attaching;
    expect(seen.length).toBeLessThan(10);
  });

  it("is refused when it is attached already", async () => {
    const { attachments, client, slowly } = place(10);
    attachments.attach(client);
    expect((await attachments.attachAfter(client, 3, slowly))?.message).toContain("already attached");
  });
});
