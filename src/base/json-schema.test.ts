import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { schemaProblems } from "./json-schema.js";

const SCHEMA = {
  type: "object",
  properties: {
    path: { type: "string", minLength: 1 },
    limit: { type: "integer", minimum: 1, maximum: 10 },
    mode: { enum: ["content", "count"] },
    edits: { type: "array", items: { type: "object", properties: { old: { type: "string" } }, required: ["old"] } },
    either: { anyOf: [{ type: "string" }, { type: "null" }] },
  },
  required: ["path"],
  additionalProperties: false,
};

describe("schemaProblems", () => {
  it("finds nothing wrong with what fits", () => {
    expect(schemaProblems(SCHEMA, { path: "a", limit: 10, mode: "count", edits: [{ old: "" }], either: null })).toEqual(
      [],
    );
  });

  verifies(["L8"], "names the field, what came and what was expected", () => {
    const cases: readonly (readonly [Parameters<typeof schemaProblems>[1], string])[] = [
      [{}, '"path" is missing (string)'],
      [[], "the arguments must be an object, got []"],
      [{ path: "" }, '"path" must not be empty'],
      [{ path: "a", limit: "5" }, '"limit" must be an integer, got "5"'],
      [{ path: "a", limit: 1.5 }, '"limit" must be an integer, got 1.5'],
      [{ path: "a", limit: 11 }, '"limit" must be at most 10, got 11'],
      [{ path: "a", mode: "all" }, '"mode" must be one of "content", "count", got "all"'],
      [{ path: "a", edits: [{ old: "x" }, {}] }, '"edits[1].old" is missing (string)'],
      [{ path: "a", either: 5 }, '"either" must be a string, got 5'],
      [{ path: "a", file: "b" }, '"file" is not known; expected path, limit, mode, edits, either'],
    ];
    for (const [value, problem] of cases) expect(schemaProblems(SCHEMA, value)).toEqual([problem]);
  });
});
