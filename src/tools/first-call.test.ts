import { describe, expect, it } from "vitest";
import { ManualClock } from "../base/clock.js";
import type { Envelope } from "../protocol/envelope.js";
import { firstCall } from "./first-call.js";

const nextPass = () => new Promise((resolve) => setImmediate(resolve));
const event = (kind: string) => ({ kind }) as Envelope;

function prepared(fails = "") {
  const clock = new ManualClock();
  const done: string[] = [];
  const step = (name: string) => async () => {
    if (name === fails) throw new Error("cannot be loaded");
    done.push(name);
  };
  const first = firstCall(clock, [step("rules"), step("shell"), step("sandbox")]);
  const turn = async () => {
    first.subscriber.run(event("TurnStarted"));
    clock.advance(1000);
    for (let pass = 0; pass < 10; pass++) await nextPass();
  };
  return { clock, done, first, turn };
}

describe("the first call of a session", () => {
  it("is prepared once, in order, after the first request", async () => {
    const { clock, done, first, turn } = prepared();
    first.subscriber.run(event("SessionStarted"));
    clock.advance(1000);
    first.subscriber.run(event("TurnStarted"));
    expect(done).toEqual([]);
    await turn();
    await turn();
    expect(done).toEqual(["rules", "shell", "sandbox"]);
  });

  it("is not prepared while text streams, but in a later turn", async () => {
    const { clock, done, first, turn } = prepared();
    first.subscriber.run(event("TurnStarted"));
    first.subscriber.run(event("TextDelta"));
    clock.advance(1000);
    expect(done).toEqual([]);
    await turn();
    expect(done).toEqual(["rules", "shell", "sandbox"]);
  });

  it("is not prepared when the answer has arrived while the process was busy", async () => {
    const { clock, done, first } = prepared();
    setImmediate(() => first.subscriber.run(event("TextDelta")));
    first.subscriber.run(event("TurnStarted"));
    clock.advance(1000);
    for (let pass = 0; pass < 10; pass++) await nextPass();
    expect(done).toEqual([]);
  });

  it("is not prepared after a turn that ended without text", async () => {
    const { clock, done, first, turn } = prepared();
    first.subscriber.run(event("TurnStarted"));
    first.subscriber.run(event("TurnEnded"));
    clock.advance(1000);
    for (let pass = 0; pass < 10; pass++) await nextPass();
    expect(done).toEqual([]);
    await turn();
    expect(done).toEqual(["rules", "shell", "sandbox"]);
  });

  it("says itself what cannot be loaded", async () => {
    const { done, turn } = prepared("shell");
    await turn();
    expect(done).toEqual(["rules"]);
  });

  it("is not prepared when the session is over", async () => {
    const { done, first, turn } = prepared();
    first.subscriber.run(event("TurnStarted"));
    first.close();
    await turn();
    expect(done).toEqual([]);
  });
});
