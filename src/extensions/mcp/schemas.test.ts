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

describe("a schema is checked in all of its parts", () => {
  /** The same part at each place where a schema can be. */
  const places = (part: unknown): readonly object[] => [
    { properties: { a: part } },
    { properties: { a: { type: "object", properties: { b: { items: part } } } } },
    { properties: { a: { items: [part] } } },
    { properties: { a: { anyOf: [{ type: "null" }, part] } } },
    { $defs: { A: part } },
    { definitions: { A: { not: part } } },
    { additionalProperties: part },
    { patternProperties: { "^x": part } },
    { if: { dependentSchemas: { a: part } }, else: { prefixItems: [part] } },
  ];

  verifies(["E6", "P11"], "so that no name in it is a control sequence, a path or a name of JavaScript", () => {
    const names = [
      "a\u001b[2J",
      "a\u009b31m",
      "a\u202eb",
      "a\u200b",
      "a\nb",
      "../../etc/passwd",
      "a\\b",
      "..",
      "__proto__",
    ];
    for (const name of names) {
      const named = JSON.parse(`{"properties": {${JSON.stringify(name)}: {}}}`) as object;
      const parts = [named, { required: [name] }, { dependentRequired: { a: [name] } }, { "x-more": { [name]: 1 } }];
      for (const part of name.includes("/") || name.includes("\\") || name === ".." ? parts.slice(0, 3) : parts)
        for (const schema of places(JSON.parse(JSON.stringify(part))))
          if (name !== "__proto__" || JSON.stringify(schema).includes(name))
            expect(() => usableSchema(schema), JSON.stringify(schema)).toThrow(
              /control or invisible characters|which is a path|which is not safe/,
            );
    }
    expect(() => usableSchema({ properties: { a: { properties: { ["x".repeat(300)]: {} } } } })).toThrow(
      "more than 256",
    );
    for (const choice of [{ enum: ["\u001b[2J"] }, { const: { a: "\u202e" } }])
      expect(() => usableSchema({ properties: { a: choice } })).toThrow("control or invisible");
  });

  verifies(["E6"], "so that each keyword has a value that models take", () => {
    const wrong: readonly unknown[] = [
      ...[1, null, "x"],
      ...[{ type: "strng" }, { type: [] }, { type: null }, { properties: [] }, { required: true }, { required: [1] }],
      ...[{ enum: "a" }, { anyOf: [] }, { anyOf: {} }, { minLength: -1 }, { maxItems: "3" }, { minimum: "0" }],
      ...[{ multipleOf: 0 }, { description: 5 }, { $ref: {} }, { pattern: 1 }, { uniqueItems: "yes" }, { not: null }],
      ...[{ exclusiveMinimum: true }, { examples: {} }, { dependentRequired: [] }, { $defs: { a: 1 } }, { format: 1 }],
    ];
    for (const part of wrong)
      for (const schema of places(part))
        expect(() => usableSchema(schema), JSON.stringify(schema)).toThrow(/^has .* which is not /);
  });

  verifies(["E6"], "and what real servers send stays as it is", () => {
    const schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: {
        separator: { enum: [",", "\t", "\n"], default: "\t" },
        filter: {
          type: "object",
          properties: { $and: { type: "array" }, "First name": { const: "🧑‍💻" }, "@type": true },
        },
        constructor: { type: ["string", "null"], "x-order": { first: 1 }, examples: ["a"] },
        tree: { $ref: "#/$defs/Tree%3Cstring%3E" },
        block: { $ref: "#/definitions/a~1b" },
      },
      required: ["separator"],
      additionalProperties: false,
      $defs: {
        "Tree<string>": { properties: { next: { anyOf: [{ $ref: "#/$defs/Tree%3Cstring%3E" }, { type: "null" }] } } },
      },
      definitions: { "a/b": { type: "string", pattern: "^(?:\\d+/)*$" } },
    };
    expect(usableSchema(schema)).toEqual(schema);
    const pair = { items: [{ type: "number" }, { type: "number" }], additionalItems: false };
    expect(usableSchema({ properties: { pair } }).properties).toEqual({
      pair: { prefixItems: pair.items, items: false },
    });
    const named = {
      $ref: "#/definitions/Ask",
      definitions: { Ask: { type: "object", properties: { a: { type: "string" } } } },
    };
    expect(usableSchema(named)).toMatchObject({ type: "object", properties: { a: { type: "string" } } });
    const spoken = usableSchema({ properties: { a: { default: "\u001b[2Jx", "x-hint": "\u202e" } } });
    expect(JSON.stringify(spoken)).not.toMatch(/\\u001b|\u202e/);
  });

  verifies(["E6"], "so that no check of it goes on without end", async () => {
    const circles: readonly object[] = [
      { $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } }, properties: { x: { $ref: "#/$defs/a" } } },
      { anyOf: [{ $ref: "#" }] },
      { properties: { x: { not: { $ref: "#/properties/x" } } } },
      { $defs: { a: { type: "object", $ref: "#/$defs/b" }, b: { if: { $ref: "#/%24defs/a" } } } },
      { $defs: { a: { dependentSchemas: { k: { oneOf: [{ $ref: "#/$defs/a" }] } } } } },
    ];
    for (const schema of circles) {
      expect(() => usableSchema(schema), JSON.stringify(schema)).toThrow("that leads back to itself");
      expect((await checkerOf(schema))({ x: { k: 1 } })).toEqual([]);
    }
    expect(
      usableSchema({ properties: { a: { $ref: "#/constructor" }, b: { $ref: "#/__proto__" } } }).properties,
    ).toEqual({
      a: {},
      b: {},
    });
    const tree = { $ref: "#/$defs/tree" };
    const twice = { allOf: [{ properties: { n: tree } }, { properties: { n: tree } }] };
    const deep = JSON.parse(`${'{"n":'.repeat(90)}1${"}".repeat(90)}`) as unknown;
    for (const way of ["#/$defs/tree", "#/%24defs/tree"]) {
      const schema = JSON.parse(
        JSON.stringify({ $defs: { tree: twice }, ...tree }).replaceAll(tree.$ref, way),
      ) as object;
      expect((await checkerOf(schema))(deep)).toEqual([]);
    }
    const both = await checkerOf({ properties: { left: { $ref: "#" }, right: { $ref: "#" } }, type: "object" });
    expect(both({ left: { right: 1 } })).toHaveLength(1);
  });
});
