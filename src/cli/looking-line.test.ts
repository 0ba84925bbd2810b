import { describe, expect, it } from "vitest";
import { ManualClock } from "../base/clock.js";
import { LookingLine } from "./looking-line.js";

describe("[M5] a line that says what is waited for", () => {
  it("appears after a moment and disappears before other output", () => {
    const clock = new ManualClock();
    let screen = "";
    const line = new LookingLine("looking …", { clock, write: (text) => (screen += text) });
    clock.advance(59);
    expect(screen).toBe("");
    clock.advance(1);
    expect(screen).toBe("looking …");
    line.end();
    line.end();
    expect(screen).toBe("looking …\r\x1b[2K");
  });

  it("does not come when nothing had to be waited for", () => {
    const clock = new ManualClock();
    let screen = "";
    const line = new LookingLine("looking …", { clock, write: (text) => (screen += text) });
    line.end();
    clock.advance(1000);
    expect(screen).toBe("");
  });
});
