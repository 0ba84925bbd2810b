import { describe, expect, it } from "vitest";
import { ManualClock } from "../../base/clock.js";
import { LiveProgress } from "./live-progress.js";

function setUp() {
  const clock = new ManualClock();
  const shown: string[] = [];
  return { clock, shown, live: new LiveProgress((text) => shown.push(text), clock) };
}

describe("LiveProgress", () => {
  it("shows the first piece after a moment and gathers the next for 100 ms", () => {
    const { clock, shown, live } = setUp();
    live.write(Buffer.from("a"));
    clock.advance(39);
    expect(shown).toEqual([]);
    clock.advance(1);
    expect(shown).toEqual(["a"]);
    live.write(Buffer.from("b"));
    live.write(Buffer.from("c"));
    clock.advance(99);
    expect(shown).toEqual(["a"]);
    clock.advance(1);
    expect(shown).toEqual(["a", "bc"]);
  });

  it("shows nothing for a command that ends at once: the result has its output", () => {
    const { clock, shown, live } = setUp();
    live.write(Buffer.from("a"));
    live.stop();
    clock.advance(1000);
    expect(shown).toEqual([]);
  });

  it("shows at once again after a silence", () => {
    const { clock, shown, live } = setUp();
    live.write(Buffer.from("a"));
    clock.advance(140);
    live.write(Buffer.from("b"));
    expect(shown).toEqual(["a", "b"]);
    expect(clock.pending).toBe(1);
  });

  it("waits for the rest of a character", () => {
    const { clock, shown, live } = setUp();
    const bytes = Buffer.from("日本");
    live.write(bytes.subarray(0, 4));
    clock.advance(40);
    live.write(bytes.subarray(4));
    clock.advance(100);
    expect(shown).toEqual(["日", "本"]);
  });

  it("shows only the newest of a flood, and ever more rarely", () => {
    const { clock, shown, live } = setUp();
    for (let ms = 0; ms < 60_000; ms += 10) {
      live.write(Buffer.from("é".repeat(50_000)));
      clock.advance(10);
    }
    expect(Math.max(...shown.map((text) => text.length))).toBeLessThanOrEqual(2048);
    expect(shown.join("")).not.toContain("\ufffd");
    expect(shown.length).toBeLessThan(100);
  });

  it("shows the last output when a watched command ends, and nothing after that", () => {
    const { clock, shown, live } = setUp();
    live.write(Buffer.from("a"));
    clock.advance(40);
    live.write(Buffer.from("b"));
    live.stop();
    live.write(Buffer.from("c"));
    clock.advance(1000);
    expect(shown).toEqual(["a", "b"]);
    expect(clock.pending).toBe(0);
  });
});
