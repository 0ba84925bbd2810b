import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { CompletionSource } from "../../clients/sdk/completion/completion.js";
import { completerOf } from "../line-completer.js";
import { completionsOf } from "./line-completion.js";

const SOURCE: CompletionSource = {
  suggest: ({ line }) => {
    if (!line.startsWith("/")) return undefined;
    const items = ["/help", "/health", "/theme"].map((value) => ({ value, label: value, next: "send" as const }));
    return { start: 0, items };
  },
};

describe("Tab in the line client", () => {
  verifies(["U2"], "completes with texts that begin with the typed one", async () => {
    expect(await completionsOf(SOURCE, "/he")).toEqual([["/help", "/health"], "/he"]);
    expect(await completionsOf(SOURCE, "he")).toEqual([[], "he"]);
  });

  verifies(["U2"], "completes a prompt and no answer, and survives a source that fails", async () => {
    let isPrompt = true;
    const typed = async (keys: string, source = SOURCE) => {
      const input = new PassThrough();
      const completer = completerOf(
        (line) => completionsOf(source, line),
        () => isPrompt,
      );
      const reader = createInterface({ input, output: new PassThrough(), terminal: true, completer });
      const line = new Promise<string>((resolve) => reader.once("line", resolve));
      for (const key of keys) {
        input.write(key);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return line.finally(() => reader.close());
    };
    expect(await typed("/the\t\r")).toBe("/theme");
    const failing: CompletionSource = { suggest: () => Promise.reject(new Error("gone")) };
    expect(await typed("/the\tx\r", failing)).toBe("/thex");
    isPrompt = false;
    expect(await typed("/the\t\r")).toBe("/the");
  });
});
