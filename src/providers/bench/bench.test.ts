import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { ManualClock } from "../../base/clock.js";
import type { Model, ModelEvent } from "../../engine/ports.js";
import { failure } from "../../protocol/errors.js";
import { type Measurement, measure, median, tokensPerSecond } from "./measure.js";
import { benchTable } from "./table.js";

const USAGE = { input: 10, cache_read: 2, cache_write: 1, output: 40, reasoning: 0 };

/** Each event after so many milliseconds. */
function timed(clock: ManualClock, events: readonly (readonly [number, ModelEvent])[]): Model {
  return {
    provider: "p",
    family: "p",
    model: "m",
    async *stream() {
      for (const [ms, event] of events) {
        clock.advance(ms);
        yield [event];
      }
    },
  };
}

async function measured(events: readonly (readonly [number, ModelEvent])[]) {
  const clock = new ManualClock();
  return measure(timed(clock, events), { prompt: "Hi", clock, signal: new AbortController().signal });
}

const run = (firstTokenMs: number, totalMs: number, answerTokens = 40): Measurement => ({
  firstTokenMs,
  totalMs,
  promptTokens: 13,
  answerTokens,
});

describe("a bench", () => {
  verifies(["M17"], "tells the first token from the whole, and counts what the provider counted", async () => {
    const thought = await measured([
      [300, { type: "usage", usage: { ...USAGE, output: 1 } }],
      [200, { type: "thinking", text: "hm" }],
      [500, { type: "text", text: "Hi" }],
      [1000, { type: "usage", usage: USAGE }],
      [0, { type: "stop", reason: "end" }],
    ]);
    expect(thought).toEqual({ measured: run(500, 2000) });
    expect(tokensPerSecond(run(500, 2000))).toBeCloseTo(40 / 1.5);
    const failed = await measured([[10, { type: "failure", failure: failure("NoModel", { detail: "gone" }) }]]);
    expect(failed).toMatchObject({ failure: { reason: "NoModel" } });
  });

  it("takes the median of several runs, and the whole answer when there is no first piece", () => {
    expect(median([])).toBeUndefined();
    expect(median([run(9000, 9500), run(100, 600), run(200, 700)])).toEqual(run(200, 700));
    expect(median([run(100, 600), run(200, 800)])).toEqual(run(150, 700));
    expect(tokensPerSecond(run(1000, 1000))).toBe(40);
    expect(tokensPerSecond(run(10, 1000, 0))).toBeUndefined();
  });

  verifies(["M17"], "is a table with the fastest first, what failed below it", () => {
    const row = (model: string, each: Measurement) => ({ model, runs: [each], middle: each });
    const table = benchTable([
      row("slow:a", run(500, 4500, 1200)),
      { model: "broken:b", runs: [], middle: undefined, problem: "no key" },
      row("quick:c", run(50, 150)),
      row("mute:d", run(50, 150, 0)),
    ]);
    expect(table).toBe(
      [
        "model    first token   total  prompt  answer  tokens/s",
        "quick:c       0.05 s  0.15 s      13      40     400.0",
        "slow:a        0.50 s  4.50 s      13   1,200     300.0",
        "mute:d        0.05 s  0.15 s      13       ?         ?",
        "broken:b: no key",
      ].join("\n"),
    );
  });
});
