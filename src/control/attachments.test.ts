import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { Bus } from "../engine/bus.js";
import type { Envelope } from "../protocol/envelope.js";
import { nodeClock } from "../system/node-clock.js";
import { Attachments } from "./attachments.js";
import type { AttachedClient } from "./host.js";
import type { Run } from "./run.js";

const STORED_LATE = 3;

function place(published: number) {
  const bus = new Bus({ session: "sess_1", originator: "cli_0", clock: nodeClock });
  const log: Envelope[] = [];
  bus.subscribe((event) => log.push(event));
  const run = { bus, session: "sess_1", saved: async () => {} } as unknown as Run;
  const attachments = new Attachments(run);
  attachments.follow();
  const publish = (count: number) => {
    for (let i = 0; i < count; i++) bus.publish("TextDelta", { text: "a" });
  };
  publish(published);
  const seen: number[] = [];
  const client: AttachedClient = {
    id: "cli_1",
    identity: "human",
    canAnswer: true,
    deliver: ({ id }) => seen.push(id),
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
  return { attachments, publish, client, seen, slowly, bus };
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

  it("gets events that are not stored from memory, and is refused when they are gone", async () => {
    const few = place(20);
    expect(await few.attachments.attachAfter(few.client, 5, () => undefined)).toBeUndefined();
    expect(few.seen).toEqual(counted(6, 20));
    const many = place(600);
    const refusal = await many.attachments.attachAfter(many.client, 5, () => undefined);
    expect(refusal?.message).toContain("Events 6 to 600 of this session are not stored.");
    many.publish(1);
    expect(many.seen).toEqual([]);
  });

  it("gets nothing more once it has detached, also in the middle", async () => {
    const { attachments, client, seen, slowly } = place(600);
    const attaching = attachments.attachAfter(client, 0, slowly);
    await new Promise((resolve) => setImmediate(resolve));
    attachments.detach(client.id);
    await attaching;
    expect(seen.length).toBeLessThan(10);
  });

  it("is refused when it is attached already, or names an event that is not there", async () => {
    const { attachments, client, slowly } = place(10);
    expect((await attachments.attachAfter(client, 11, slowly))?.message).toContain(
      "the last event of the session is 10",
    );
    attachments.attach(client);
    expect((await attachments.attachAfter(client, 3, slowly))?.message).toContain("already attached");
  });
});
