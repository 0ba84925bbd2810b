import { describe, expect, it } from "vitest";
import { ManualClock } from "../base/clock.js";
import { compose } from "./compose.js";
import type { Link } from "./ports.js";
import { Timing } from "./timing.js";

type Step = Link<string, string, string>;

function chain(links: readonly Step[], terminal: (input: string, context: string) => Promise<string>) {
  const clock = new ManualClock();
  const timing = new Timing(clock);
  return { clock, timing, run: compose(links, terminal, { timing, prefix: "link" }) };
}

const around = (name: string): Step => ({
  name,
  run: async (input, context, next) => `${name}(${await next(`${input}${name}`, undefined)})${context}`,
});

describe("[L3] a chain of links", () => {
  it("runs from the outside in, and the context stays unless a link changes it", async () => {
    const narrow: Step = { name: "n", run: (input, _context, next) => next(input, "narrow") };
    const { run } = chain([around("a"), narrow, around("b")], async (input, context) => `[${input} ${context}]`);
    expect(await run("x", "wide")).toBe("a(b([xab narrow])narrow)wide");
  });

  it("may ask twice, or not at all", async () => {
    const twice: Step = { name: "t", run: async (input, _context, next) => (await next(input)) + (await next(input)) };
    const never: Step = { name: "n", run: async () => "refused" };
    expect(await chain([twice], async (input) => input).run("x", "")).toBe("xx");
    expect(await chain([never, twice], async () => "reached").run("x", "")).toBe("refused");
  });

  it("counts the time of a link without that of what it wraps, also when that fails", async () => {
    const slow = (name: string, before: number, after: number, clock: () => ManualClock): Step => ({
      name,
      run: async (input, _context, next) => {
        clock().advance(before);
        try {
          return await next(input);
        } finally {
          clock().advance(after);
        }
      },
    });
    for (const fails of [false, true]) {
      const made: ReturnType<typeof chain> = chain(
        [slow("a", 1, 2, () => made.clock), slow("b", 10, 20, () => made.clock)],
        async () => {
          made.clock.advance(100);
          if (fails) throw new Error("broken");
          return "";
        },
      );
      expect(await made.run("", "").catch(String)).toBe(fails ? "Error: broken" : "");
      expect(made.timing.report()).toEqual({ "link/a": 3, "link/b": 30 });
    }
  });
});
