import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { ManualClock } from "../base/clock.js";
import { Bus } from "../engine/bus.js";
import type { TurnResult } from "../engine/loop.js";
import { text } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { ClientId, SessionId } from "../protocol/ids.js";
import { Inbox, type LeftInput, type WaitingInput } from "./inbox.js";

const ADA = { id: "cli_ada" as ClientId, identity: "human" } as const;
const BOT = { id: "cli_bot" as ClientId, identity: "agent" } as const;

function inbox(left: readonly LeftInput[] = []) {
  const bus = new Bus({ session: "sess_1" as SessionId, originator: ADA.id, clock: new ManualClock() });
  const events: Envelope[] = [];
  bus.subscribe((event) => events.push(event));
  const box = new Inbox(bus, left);
  const add = (words: string, from: typeof ADA | typeof BOT = ADA, delivery: "queue" | "steer" = "queue") =>
    box.add({ content: [text(words)], from, delivery });
  return { box, events, add };
}

const words = (inputs: readonly Pick<WaitingInput, "content">[]) =>
  inputs.map(({ content }) => content.map((block) => ("text" in block ? block.text : "")).join());
const left = (input: string, identity?: "human" | "agent"): LeftInput => ({
  ...{ input: [text(input)], delivery: "queue", from: ADA.id },
  ...(identity && { identity }),
});
const TURN = Promise.resolve({ outcome: "answered" } as TurnResult);

describe("input that waits", () => {
  verifies(["L10"], "is in the log before it is accepted, and goes to turns one by one, the oldest first", async () => {
    const { box, events, add } = inbox();
    const one = add("one");
    const two = add("two", BOT);
    expect(events.map(({ kind, payload }) => [kind, payload])).toEqual([
      ["InputQueued", { input: [text("one")], delivery: "queue", from: ADA.id, identity: "human" }],
      ["InputQueued", { input: [text("two")], delivery: "queue", from: BOT.id, identity: "agent" }],
    ]);
    expect([one.waiting, box.size]).toEqual(["queue", 2]);
    const [first, ...more] = box.takeNext();
    expect([words(first ? [first] : []), more]).toEqual([["one"], []]);
    let isBegun = false;
    void two.begun.then(() => {
      isBegun = true;
    });
    first?.settle(TURN);
    await one.begun;
    expect(await one.ended).toEqual({ outcome: "answered" });
    expect([isBegun, words(box.takeNext()), box.takeNext()]).toEqual([false, ["two"], []]);
  });

  verifies(["L10"], "for the running turn is taken apart from the rest", async () => {
    const { box, add } = inbox();
    add("later");
    const steering = add("now", BOT, "steer");
    const taken = box.takeSteering(() => TURN);
    expect(taken).toEqual([{ content: [text("now")], from: BOT.id }]);
    expect(await steering.ended).toEqual({ outcome: "answered" });
    expect([box.size, box.takeSteering(() => TURN)]).toEqual([1, []]);
  });

  verifies(
    ["L10", "S3"],
    "that an earlier run left joins the next input of the same kind of sender, never another",
    () => {
      const { box, add } = inbox([left("a", "human"), left("b", "human"), left("c")]);
      expect([box.joins(ADA), box.joins(BOT)]).toEqual([false, false]);
      expect(words(box.takeNext())).toEqual(["a", "b"]);
      expect([box.joins(ADA), box.joins(BOT)]).toEqual([false, true]);
      add("d", BOT);
      expect(box.joins(BOT)).toBe(false);
      add("e", BOT);
      expect([words(box.takeNext()), words(box.takeNext())]).toEqual([["c", "d"], ["e"]]);
      expect([box.joins(ADA), inbox([left("x", "human")]).box.joins(ADA)]).toEqual([true, true]);
    },
  );

  verifies(["L10"], "is dropped by its sender, with its client, or with everything, and the log says so", async () => {
    const { box, events, add } = inbox();
    const one = add("one");
    add("two", BOT);
    add("three");
    one.withdraw();
    one.withdraw();
    expect(await one.ended).toBeUndefined();
    box.dropFrom(BOT.id);
    box.dropFrom(BOT.id);
    box.dropAll("the engine");
    box.dropAll("the engine");
    const dropped = events.flatMap(({ kind, payload }) => (kind === "InputDropped" ? [payload] : []));
    expect(dropped).toEqual([
      { inputs: [[text("one")]], by: ADA.id },
      { inputs: [[text("two")]], by: BOT.id },
      { inputs: [[text("three")]], by: "the engine" },
    ]);
    expect(box.size).toBe(0);
  });
});
