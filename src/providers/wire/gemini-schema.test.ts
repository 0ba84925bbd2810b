import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { toGeminiSchema } from "./gemini-schema.js";

/** The schema of one property, converted. */
function property(schema: JsonValue, root: JsonObject = {}): JsonValue | undefined {
  const converted = toGeminiSchema({ type: "object", properties: { it: schema }, ...root });
  return (converted?.properties as JsonObject | undefined)?.it;
}

describe("toGeminiSchema", () => {
  it("keeps what Gemini knows and drops what it does not", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        path: { type: "string", description: "Where.", minLength: 1, pattern: "^/", format: "uri", examples: ["/a"] },
        count: { type: "integer", minimum: 0, exclusiveMaximum: 10, format: "int32", default: 1 },
        lines: { type: "array", items: { type: "string" }, uniqueItems: true, maxItems: 3 },
      },
      required: ["path", "gone"],
      additionalProperties: false,
      patternProperties: {},
      if: {},
    };
    expect(toGeminiSchema(schema)).toEqual({
      type: "OBJECT",
      properties: {
        path: { type: "STRING", description: "Where.", minLength: 1, pattern: "^/" },
        count: { type: "INTEGER", minimum: 0, format: "int32" },
        lines: { type: "ARRAY", items: { type: "STRING" }, maxItems: 3 },
      },
      required: ["path"],
    });
  });

  it("is nothing for a tool without parameters", () => {
    expect(toGeminiSchema({ type: "object", properties: {} })).toBeUndefined();
    expect(toGeminiSchema({})).toBeUndefined();
  });

  it.each<[string, JsonValue, JsonValue]>([
    ["several types", { type: ["string", "integer"] }, { anyOf: [{ type: "STRING" }, { type: "INTEGER" }] }],
    [
      "a type or null",
      { type: ["string", "null"], description: "d" },
      { type: "STRING", description: "d", nullable: true },
    ],
    ["anyOf with null", { anyOf: [{ type: "number" }, { type: "null" }] }, { type: "NUMBER", nullable: true }],
    [
      "oneOf",
      { oneOf: [{ type: "string" }, { type: "boolean" }], description: "d" },
      { description: "d", anyOf: [{ type: "STRING" }, { type: "BOOLEAN" }] },
    ],
    [
      "allOf",
      {
        allOf: [{ type: "object", properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: {} } }],
      },
      { type: "OBJECT", properties: { a: { type: "STRING" }, b: { type: "STRING" } }, required: ["a"] },
    ],
    ["words to choose from", { enum: ["a", "b"] }, { type: "STRING", enum: ["a", "b"] }],
    ["a constant", { const: "a" }, { type: "STRING", enum: ["a"] }],
    [
      "numbers to choose from",
      { enum: [1, 2], description: "How." },
      { type: "NUMBER", description: "How. One of 1, 2." },
    ],
    [
      "a choice with an empty word",
      { type: "string", enum: ["", "a"] },
      { type: "STRING", description: 'One of "", "a".' },
    ],
    ["a list of anything", { type: "array" }, { type: "ARRAY", items: { type: "STRING" } }],
    [
      "a tuple",
      { prefixItems: [{ type: "string" }, { type: "number" }] },
      { type: "ARRAY", items: { anyOf: [{ type: "STRING" }, { type: "NUMBER" }] } },
    ],
    ["a map", { type: "object", additionalProperties: { type: "string" } }, { type: "OBJECT" }],
    ["anything", true, { type: "STRING" }],
  ])("converts %s", (_, schema, expected) => {
    expect(property(schema)).toEqual(expected);
  });

  it("follows references, and stops at one to itself", () => {
    const $defs = {
      "a/b": { type: "string", description: "inner" },
      tree: { type: "object", properties: { child: { $ref: "#/$defs/tree" } } },
    };
    expect(property({ $ref: "#/$defs/a~1b", description: "outer" }, { $defs })).toEqual({
      type: "STRING",
      description: "outer",
    });
    expect(property({ $ref: "#/$defs/tree" }, { $defs })).toEqual({
      type: "OBJECT",
      properties: { child: { type: "OBJECT" } },
    });
    expect(property({ $ref: "#/$defs/none" }, { $defs })).toEqual({ type: "STRING" });
    expect(property({ $ref: "https://host/schema" })).toEqual({ type: "STRING" });
  });

  it("does not unfold a small schema into a huge one", () => {
    const $defs: Record<string, JsonObject> = {};
    for (let i = 0; i < 30; i++) {
      const next = { $ref: `#/$defs/d${i + 1}` };
      $defs[`d${i}`] = { type: "object", properties: { a: next, b: next, c: next } };
    }
    const size = JSON.stringify(property({ $ref: "#/$defs/d0" }, { $defs })).length;
    expect(size).toBeLessThan(500_000);
  });

  it("never throws and never says a word that Gemini does not know", () => {
    const known = new Set(
      "type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern anyOf items minimum maximum".split(
        " ",
      ),
    );
    const words = fc.constantFrom(
      "type",
      "properties",
      "items",
      "anyOf",
      "oneOf",
      "allOf",
      "enum",
      "const",
      "$ref",
      "required",
      "additionalProperties",
      "not",
      "format",
      "description",
      "title",
    );
    const values = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom<JsonValue>("string", "object", "array", "null", "#", "#/properties/a", null, true, 3, [
          "string",
          "null",
        ]),
        fc.dictionary(words, tie("value")),
        fc.array(tie("value"), { maxLength: 3 }),
      ),
    })).value;
    const check = (schema: JsonValue | undefined): void => {
      const { properties = {}, items, anyOf = [], ...rest } = schema as JsonObject;
      expect(Object.keys(rest).filter((name) => !known.has(name))).toEqual([]);
      for (const inner of Object.values(properties as JsonObject)) check(inner);
      for (const inner of anyOf as JsonValue[]) check(inner);
      if (items !== undefined) check(items);
    };
    fc.assert(
      fc.property(fc.dictionary(words, values), (schema) => {
        check(property(schema as JsonObject));
      }),
      { numRuns: times(100, 500) },
    );
  });
});
