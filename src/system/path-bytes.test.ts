import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { needs } from "../../test/support/needs.js";
import { times } from "../../test/support/thorough.js";
import { fsPath, linkTarget, namesIn, pathBytes, pathText, shownPath } from "./path-bytes.js";

const bytes = fc
  .oneof(
    fc.uint8Array({ maxLength: 12 }),
    // Beginnings and ends of characters next to each other, surrogates and too long forms among them.
    fc
      .array(fc.constantFrom("c3", "a9", "f0", "9f", "92", "a9", "ed", "a0", "80", "c0", "ef", "bf", "bd", "41"))
      .map((hex) => new Uint8Array(Buffer.from(hex.join(""), "hex"))),
  )
  .map((list) => Buffer.from(list));

describe("names that are not UTF-8", () => {
  it("keep every byte, and no two names become one", () => {
    fc.assert(
      fc.property(bytes, bytes, (one, two) => {
        expect(pathBytes(pathText(one))).toEqual(one);
        expect(pathText(one) === pathText(two)).toBe(one.equals(two));
        expect(JSON.parse(Buffer.from(JSON.stringify(pathText(one))).toString())).toBe(pathText(one));
        expect(shownPath(pathText(one)).isWellFormed()).toBe(true);
      }),
      { numRuns: times(400, 2000) },
    );
  });

  it("stay as they are when they are UTF-8", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        expect(pathText(Buffer.from(name))).toBe(name);
        expect(fsPath(name)).toBe(name);
        expect(shownPath(name)).toBe(name);
      }),
    );
  });

  needs("linux").it("are listed, opened and read from links", () => {
    const folder = mkdtempSync(join(tmpdir(), "oxbow-bytes-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const names = ["a\udcff", "a\udcfe", "a\ufffd", "é"];
    for (const name of names) writeFileSync(fsPath(join(folder, name)), name);
    expect(namesIn(folder).sort()).toEqual(names.toSorted());
    symlinkSync(fsPath("to\udc80"), fsPath(join(folder, "link\udcff")));
    expect(linkTarget(join(folder, "link\udcff"))).toBe("to\udc80");
  });

  it("are shown as a shell takes them", () => {
    expect(shownPath("a'\\\n\udcff/b")).toBe("$'a\\'\\\\\\x0a\\xff/b'");
  });
});
