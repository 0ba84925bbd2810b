import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { formFields, formProblems, formText, formValues } from "./form.js";

const titled = (...values: readonly string[]) => values.map((value) => ({ const: value, title: `The ${value}` }));
const SCHEMA = {
  type: "object",
  properties: {
    mail: { type: "string", format: "email", title: "E-mail" },
    day: { type: "string", format: "date" },
    site: { type: "string", format: "uri" },
    note: { type: "string", minLength: 2, maxLength: 5, pattern: "^(a+)+$" },
    count: { type: "integer", minimum: 1, maximum: 9, default: 3 },
    share: { type: "number" },
    sure: { type: "boolean", default: false },
    plain: { type: "string", enum: ["a", "b"] },
    named: { type: "string", enum: ["a", "b"], enumNames: ["Aye", "Bee"], default: "b" },
    one: { type: "string", oneOf: titled("x", "y") },
    some: { type: "array", items: { type: "string", enum: ["p", "q", "r"] }, minItems: 1, default: ["q"] },
    many: { type: "array", items: { anyOf: titled("x", "y") } },
    odd: { type: "object" },
  },
  required: ["mail"],
};

describe("a form", () => {
  verifies(["E6"], "has fields of every kind of the specification", () => {
    const fields = formFields(SCHEMA);
    expect(fields.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      ...["mail text", "day text", "site text", "note text", "count integer", "share number", "sure yes_no"],
      ...["plain one", "named one", "one one", "some some", "many some"],
    ]);
    expect(fields[0]).toMatchObject({ required: true, title: "E-mail", hint: "an e-mail address" });
    expect(fields.find(({ name }) => name === "named")?.choices?.[1]).toEqual({ value: "b", title: "Bee" });
    expect(formText(fields)).toContain('some (some of; optional; p, q, r; at least 1 choices; default ["q"])');
  });

  verifies(["E6"], "takes JSON, lines of NAME=VALUE and the value of the only field", () => {
    const fields = formFields(SCHEMA);
    const usual = { count: 3, sure: false, named: "b", some: ["q"] };
    expect(formValues(fields)).toEqual(usual);
    expect(formValues(fields, '{"mail":"a@b","count":4,"sure":null}')).toEqual({
      ...{ mail: "a@b", count: 4, named: "b", some: ["q"] },
    });
    expect(formValues(fields, "mail=a@b\nsure=yes\none=the Y\nsome=p, r\nshare=0.5\n")).toEqual({
      ...{ ...usual, mail: "a@b", sure: true, one: "y", some: ["p", "r"], share: 0.5 },
    });
    const [only] = fields;
    expect(formValues(only === undefined ? [] : [only], "ann@example.com")).toEqual({ mail: "ann@example.com" });
  });

  verifies(["E6"], "is sent only with values that fit", () => {
    const good = { mail: "a@b", day: "2026-02-28", note: "abc", count: 9, one: "x", some: ["p"], many: [] };
    expect(formProblems(SCHEMA, good)).toEqual([]);
    const bad: readonly (readonly [object, string])[] = [
      [{ mail: undefined }, "E-mail has no value."],
      [{ mail: "ann" }, "E-mail must be an e-mail address."],
      [{ day: "2026-13-45" }, "day must be a date such as 2026-01-31."],
      [{ site: "no" }, "site must be an address such as https://example.com."],
      [{ note: "toolong" }, "note must be 2 to 5 characters."],
      [{ count: 1.5 }, "count must be a whole number."],
      [{ count: 10 }, "count must be 1 to 9."],
      [{ share: "half" }, "share must be a number."],
      [{ sure: "maybe" }, "sure must be yes or no."],
      [{ one: "z" }, "one must be one of x, y."],
      [{ some: ["p", "z"] }, "some must be some of p, q, r."],
      [{ some: [] }, "some must be at least 1 choices."],
    ];
    for (const [change, problem] of bad)
      expect(formProblems(SCHEMA, { ...good, ...change } as never), problem).toEqual([problem]);
  });

  it("is empty for schemas that are none, and bounded", () => {
    for (const schema of [undefined, null, 5, [], {}, { properties: 7 }, { properties: { a: 7 } }])
      expect(formFields(schema)).toEqual([]);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}`, { type: "string" }]));
    expect(formFields({ properties: many })).toHaveLength(50);
    const [field] = formFields({ properties: { a: { type: "string", title: "\u001b[2Jhi", default: { x: 1 } } } });
    expect(field?.title).not.toContain("\u001b");
    expect(field?.default).toBeUndefined();
  });
});
