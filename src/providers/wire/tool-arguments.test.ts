import { describe, expect, it } from "vitest";
import { beginCall, continueCall, writtenArguments } from "./gemini-calls.js";
import { toolCall } from "./tool-arguments.js";

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

describe("the arguments of a call", () => {
  it.each([1, 100])("may be nested %i levels deep", (levels) => {
    expect(toolCall("t", nested(levels))).toEqual({ type: "tool_call", tool: "t", args: JSON.parse(nested(levels)) });
  });

  it.each([101, 3000, 200_000])("are not run when they are nested %i levels deep", (levels) => {
    expect(toolCall("t", nested(levels))).toMatchObject({ args: {}, malformed: nested(levels) });
  });

  it("are not built from a path that is too long", () => {
    const piece = { jsonPath: `$${".a".repeat(3000)}`, stringValue: "x" };
    const call = continueCall(beginCall({ name: "t" }, ""), { partialArgs: [piece] });
    expect(toolCall("t", writtenArguments(call))).toMatchObject({ args: {}, malformed: JSON.stringify([piece]) });
  });
});
