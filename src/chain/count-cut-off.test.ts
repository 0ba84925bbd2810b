import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { text } from "../protocol/content.js";
import { NO_USAGE } from "../protocol/usage.js";
import { countCutOff } from "./count-cut-off.js";

const facts = async () => ({ context: 1000, output: 100, price: { input: 1, output: 2 } }) as never;
const by = { provider: "p", family: "p", model: "m" };
const request = {
  model: "m",
  system: "word ".repeat(500),
  tools: [],
  messages: [{ role: "user" as const, content: [text("go")] }],
};

describe("an answer that was cut off", () => {
  verifies(["M14"], "costs what had arrived, and its prompt where the provider had not counted it", async () => {
    const counted = await countCutOff(
      { request, by, usage: { ...NO_USAGE, input: 700, output: 1 }, words: "one two three four five six" },
      { facts },
    );
    expect(counted.usage).toMatchObject({ input: 700, output: 6 });
    expect(counted.cost?.usd).toBeCloseTo((700 + 12) / 1e6, 9);
    const silent = await countCutOff({ request, by, usage: NO_USAGE, words: "one two" }, { facts });
    expect(silent.usage.input).toBeGreaterThan(400);
    expect(silent.usage.output).toBe(2);
  });
});
