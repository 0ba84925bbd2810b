import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { ManualClock } from "../../base/clock.js";
import { MessageLines } from "./message-lines.js";

function reader(limits = { messageBytes: 100, windowMs: 1000, messages: 5, bytes: 1000, requests: 5 }) {
  const clock = new ManualClock();
  const seen: unknown[] = [];
  const noise: string[] = [];
  const floods: string[] = [];
  const lines = new MessageLines({
    clock,
    limits,
    onMessage: (message) => void seen.push(message),
    onNoise: (line) => void noise.push(line),
    onFlood: (problem) => void floods.push(problem),
  });
  return { clock, seen, noise, floods, take: (text: string) => lines.take(Buffer.from(text)) };
}

describe("the messages of a server", () => {
  verifies(["E6"], "are read however they are cut, and noise is recognised", () => {
    const { take, seen, noise } = reader();
    for (const letter of '{"a":1}\r\nhello\n\n{"b":"ü"}\n') take(letter);
    expect(seen).toEqual([{ a: 1 }, { b: "ü" }]);
    expect(noise).toEqual(["hello"]);
  });

  verifies(["E6"], "are bounded in length, depth and number", () => {
    const long = reader();
    long.take("x".repeat(101));
    long.take('\n{"a":1}\n');
    expect(long).toMatchObject({ floods: ["sent a message that is too long"], seen: [] });
    const many = reader();
    many.take("{}\n".repeat(5));
    many.clock.advance(1001);
    many.take("{}\n".repeat(5));
    expect(many.floods).toEqual([]);
    many.take("{}\n{}\n");
    expect(many).toMatchObject({ floods: ["sent more messages than a client can handle"] });
    const deep = reader({ messageBytes: 1e6, windowMs: 1000, messages: 5, bytes: 1e6, requests: 5 });
    deep.take(`${"[".repeat(50_000)}${"]".repeat(50_000)}\n`);
    expect(deep.seen).toEqual([]);
    deep.take(`{"id":7,"result":${"[".repeat(500)}${"]".repeat(500)}}\n`);
    expect(deep.seen).toMatchObject([{ id: 7, error: { message: "The answer is nested too deep." } }]);
  });
});
