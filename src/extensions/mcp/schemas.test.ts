import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { checkerOf, usableSchema } from "./schemas.js";

describe("schemas of servers", () => {
  verifies(["E6"], "are checked by the rules of 2020-12", async () => {
    const check = await checkerOf({
      type: "object",
      properties: { a: { $ref: "#/$defs/A" }, b: { type: "array", prefixItems: [{ type: "number" }], items: false } },
      required: ["a"],
      $defs: { A: { type: "string", minLength: 2 } },
    });
    expect(check({ a: "ab", b: [1] })).toEqual([]);
    expect(check({})).toEqual(["the arguments must have required property 'a'"]);
    expect(check({ a: "x" })[0]).toContain('"a" must NOT have fewer');
    expect(check({ a: "ab", b: [1, 2] })[0]).toContain('"b"');
  });

  verifies(["E6"], "cannot stop the program, whatever is in them", async () => {
    const slow = await checkerOf({ type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } });
    expect(slow({ a: `${"a".repeat(60)}!` })).toEqual([]);
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `d${at}`,
        { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
      ]),
    );
    const laughs = await checkerOf({ $ref: "#/$defs/d0", $defs: { ...doubling, d40: { type: "object" } } });
    expect(laughs({})).toEqual([]);
    const elsewhere = await checkerOf({
      type: "object",
      properties: { a: { $ref: "https://example.com/schema.json" } },
    });
    expect(elsewhere({ a: 1 })).toEqual([]);
    const around = await checkerOf({ type: "object", properties: { next: { $ref: "#" } } });
    expect(around({ next: { next: 1 } })).toHaveLength(1);
  });

  verifies(["E6"], "that no provider would take are refused", () => {
    const nested = (levels: number): object =>
      levels === 0 ? {} : { type: "object", properties: { a: nested(levels - 1) } };
    const wrong = [
      null,
      [],
      "x",
      { type: "string" },
      { properties: [] },
      { properties: { a: 1 } },
      { required: "a" },
      nested(60),
    ];
    for (const schema of [...wrong, { description: "x".repeat(70_000) }]) expect(() => usableSchema(schema)).toThrow();
    const clean = usableSchema({ properties: { a: { description: "\u001b[31mred\u001b]0;title\u0007" } } });
    expect(JSON.stringify(clean)).not.toMatch(/\\u001b|\\u0007/);
    expect(clean.type).toBe("object");
  });
});

verifies(
  ["E6", "P11"],
  "a schema reaches the model without references that lead nowhere, and with names that models take",
  () => {
    const schema = {
      $ref: "#",
      type: "object",
      $defs: {
        a: { $ref: "#/$defs/b" },
        b: { $ref: "#/$defs/a" },
        tree: { properties: { next: { $ref: "#/$defs/tree" } } },
      },
      properties: {
        circle: { $ref: "#/$defs/a" },
        far: { $ref: "https://example.com/schema.json", type: "string" },
        gone: { $ref: "#/$defs/none" },
        moving: { $dynamicRef: "#x" },
        tree: { $ref: "#/$defs/tree" },
      },
    };
    const { properties, $ref } = usableSchema(schema);
    expect($ref).toBeUndefined();
    expect(properties).toEqual({
      circle: {},
      far: { type: "string" },
      gone: {},
      moving: {},
      tree: { $ref: "#/$defs/tree" },
    });
    for (const name of ["a\u001b[2J", "a b", "", "x".repeat(65), "ключ"])
      expect(() => usableSchema({ properties: { [name]: {} } }), name).toThrow("which not every model takes");
  },
);
