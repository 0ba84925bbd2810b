import { describe, expect, it } from "vitest";
import { nestingOf, parseShallow } from "./json-nesting.js";

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

describe("nesting of JSON", () => {
  it("counts levels, and no brackets within strings", () => {
    expect(nestingOf("1")).toBe(0);
    expect(nestingOf('{"a":[1,[2]],"b":{}}')).toBe(3);
    expect(nestingOf('{"a":"[[[[{{\\"[["}')).toBe(1);
    expect(nestingOf(deep(3000))).toBe(3000);
  });

  it("reads what real JSON has, and cuts what is deeper", () => {
    expect(parseShallow(deep(200))).toEqual(JSON.parse(deep(200)));
    const cut = JSON.stringify(parseShallow(deep(100_000)));
    expect(nestingOf(cut)).toBe(200);
    expect(nestingOf(JSON.stringify(parseShallow(`${"[".repeat(5000)}${"]".repeat(5000)}`)))).toBe(200);
    expect(() => parseShallow("{")).toThrow();
  });
});
