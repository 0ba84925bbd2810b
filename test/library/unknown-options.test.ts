import { describe, expect } from "vitest";
import { createServer, Harness } from "../../src/library/index.js";
import { verifies } from "../verifies.js";

/** As a program without types would call it. */
function made(config: object, handler: object = {}): Harness {
  return new Harness({ apiKey: "none", ...config }, [], handler);
}

describe("options that the library does not have", () => {
  verifies(["L13"], "are refused at construction, with a suggestion", () => {
    expect(() => made({ maxToken: 10 })).toThrow('the configuration has no option "maxToken". Did you mean maxTokens?');
    expect(() => made({ colour: "red" })).toThrow(/There are apiKey, model, /);
    expect(() => made({ price: { input: 1, output: 2, cached: 3 } })).toThrow('price has no option "cached"');
    expect(() => made({}, { onTxt: () => {} })).toThrow("Did you mean onText?");
    expect(() => made({}, { onText: () => {}, state: 1 })).not.toThrow();
  });

  verifies(["L13"], "are refused by prompt, compact and createServer", async () => {
    const harness = made({});
    await expect(harness.prompt("hi", { que: true } as object)).rejects.toThrow("Did you mean queue?");
    await expect(harness.compact({ keeps: "it" } as object)).rejects.toThrow("Did you mean keep?");
    expect(() => createServer(harness, { tokn: "x" } as object)).toThrow("Did you mean token?");
  });
});
