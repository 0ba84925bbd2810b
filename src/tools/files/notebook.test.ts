import { describe, expect, it } from "vitest";
import { renderNotebook } from "./notebook.js";

const of = (...cells: unknown[]) => renderNotebook(JSON.stringify({ cells }));
const code = (...outputs: unknown[]) => ({ cell_type: "code", source: ["a\n", "b"], outputs });
const output = (...outputs: unknown[]) => of(code(...outputs))?.text.split("[output]\n")[1];
const picture = (type: string, data: unknown) => ({
  output_type: "display_data",
  data: { [type]: data, "text/plain": "p" },
});

describe("[T1] a notebook as text", () => {
  it("has its cells by number and kind", () => {
    expect(of({ cell_type: "markdown", source: "# T" }, "no cell", code(), { source: 5 })?.text).toBe(
      "[cell 1: markdown]\n# T\n\n[cell 2: code]\na\nb\n\n[cell 3: unknown]\n\n",
    );
    for (const text of ["no JSON", "[]", "5", "{}", '{"cells": {}}'])
      expect(renderNotebook(text), text).toBeUndefined();
  });

  it.each([
    [{ output_type: "stream", text: ["x\n", "y\n"] }, "x\ny\n"],
    [{ output_type: "error", ename: "E", evalue: "v", traceback: ["\u001b[31mat\u001b[0m", "b"] }, "at\nb\n"],
    [{ output_type: "error", ename: "E", evalue: "v" }, "E: v\n"],
    [{ output_type: "error", ename: "E", evalue: "v", traceback: [] }, "E: v\n"],
    [{ output_type: "execute_result", data: { "text/plain": "5\n", "text/html": "<b>" } }, "5\n"],
    [{ output_type: "execute_result" }, undefined],
    [{ output_type: "stream", text: " \n" }, undefined],
    ["x", undefined],
  ])("has the output %j", (one, expected) => expect(output(one)).toBe(expected));

  it("cuts its output after 4,000 characters", () => {
    expect(output({ output_type: "stream", text: "x".repeat(4000) })).toBe(`${"x".repeat(4000)}\n`);
    expect(output({ output_type: "stream", text: "x".repeat(4003) })).toBe(
      `${"x".repeat(4000)}\n[output cut: 3 more characters]\n`,
    );
  });

  it("shows four pictures that are not too large, whatever white space is in them", () => {
    const types = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    const all = of(code(...types.map((type) => picture(type, ["aG\n", "k="]))), code(picture("image/png", "aGk=")));
    expect(all?.images).toEqual(types.map((media_type) => ({ type: "image", media_type, data: "aGk=" })));
    expect(all?.text).toContain("[image/gif: picture 3 below]\n[image/webp: picture 4 below]\n");
    expect(all?.text).toContain("[image/png, not shown]");
    const size = (length: number) => of(code(picture("image/png", "a".repeat(length))))?.images.length;
    expect([size(5_000_000), size(5_000_001)]).toEqual([1, 0]);
    expect(output(picture("image/tiff", "x"))).toBe("p\n");
  });
});
