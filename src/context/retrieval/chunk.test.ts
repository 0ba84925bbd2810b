import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { chunkDocument, type DocumentKind, weightOf } from "./chunk.js";

const paragraph = (word: string) => `${`${word} `.repeat(90)}.`;

describe("chunks", () => {
  verifies(["X6"], "of Markdown begin at headings, carry the headings above them and keep code blocks whole", () => {
    const code = ["```sh", "# not a heading", "", "make install", "```"].join("\n");
    const text = [
      "---\ntitle: x\n---\n# Guide",
      paragraph("intro"),
      "## Install `it`",
      paragraph("install"),
      code,
      "### Linux",
      paragraph("linux"),
      "Use\n===",
      paragraph("use"),
    ].join("\n\n");
    const chunks = chunkDocument(text, "markdown");
    expect(chunks.map(({ title }) => title)).toEqual([
      "Guide",
      "Guide › Install it",
      "Guide › Install it › Linux",
      "Use",
    ]);
    expect(chunks[1]?.text).toContain(code);
    const lines = text.split("\n");
    for (const { text: own, firstLine, lastLine } of chunks)
      expect(lines.slice(firstLine - 1, lastLine).join("\n")).toBe(own);
  });

  verifies(["X6"], "of code begin at declarations, with the comments that belong to them", () => {
    const body = (name: string) =>
      Array.from({ length: 14 }, (_, i) => `  const ${name}${i} = compute("${name}", ${i}, other);`);
    const text = [
      'import { a } from "a";',
      "",
      "/** Reads it. */",
      "export async function readIt() {",
      ...body("r"),
      "}",
      "",
      "// Writes it.",
      "@decorated",
      "export class Writer {",
      ...body("w"),
      "}",
    ].join("\n");
    const chunks = chunkDocument(text, "code");
    expect(chunks.map(({ title }) => title)).toEqual(["readIt", "Writer"]);
    expect(chunks[0]?.text.startsWith("import")).toBe(true);
    expect(chunks[1]?.text.startsWith("// Writes it.\n@decorated")).toBe(true);
  });

  it("of a line that is too long end at a blank in their second half, or in the middle of a word", () => {
    const pieces = (line: string) => chunkDocument(line, "text").map(({ text }) => text.length);
    expect(pieces(`${"a".repeat(700)} ${"b".repeat(2000)}`)).toEqual([701, 1200, 800]);
    expect(pieces(`${"a".repeat(500)} ${"b".repeat(2000)}`)).toEqual([1200, 1200, 101]);
  });

  it("of a long class are its members", () => {
    const member = (name: string) => [
      `  # ${name} does it.`,
      `  def ${name}(self):`,
      ...Array.from({ length: 20 }, (_, i) => `    self.${name}_${i} = ${i} * self.factor + self.offset`),
      "",
    ];
    const text = ["class Thing:", ...member("alpha"), ...member("beta"), ...member("gamma")].join("\n");
    const chunks = chunkDocument(text, "code");
    expect(chunks.map(({ text: own }) => own.split("\n")[0])).toEqual([
      "class Thing:",
      "  # beta does it.",
      "  # gamma does it.",
    ]);
    expect(chunks.every(({ title }) => title === "Thing")).toBe(true);
  });

  it("of a long class are its members also without blank lines between them", () => {
    const lines = (name: string, count: number) =>
      Array.from({ length: count }, (_, i) => `    ${name}_${i} = ${i} * factor + offset`);
    const text = [
      "class Thing:",
      ...["alpha", "beta", "gamma"].flatMap((name) => ["  # It does it.", `  def ${name}(self):`, ...lines(name, 26)]),
    ];
    const starts = chunkDocument(text.join("\n"), "code").map(({ text: own, firstLine }) => [
      firstLine,
      own.split("\n")[0],
    ]);
    expect(starts).toEqual([
      [1, "class Thing:"],
      [30, "  # It does it."],
      [58, "  # It does it."],
    ]);
  });

  it("contain every line that is not blank once, in order, and stay small", () => {
    const line = fc.oneof(
      fc.constantFrom(
        "",
        "# A",
        "## B",
        "```",
        "function f() {",
        "}",
        "  x = 1",
        "class C:",
        "---",
        "日本語".repeat(300),
      ),
      fc.string({ maxLength: 120 }),
      fc.integer({ min: 1, max: 5000 }).map((length) => "y".repeat(length)),
    );
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 120 }),
        fc.constantFrom<DocumentKind>("markdown", "code", "text"),
        (lines, kind) => {
          const text = lines.join("\n");
          const chunks = chunkDocument(text, kind);
          const solid = (part: string) => part.replaceAll(/\s+/g, "").replaceAll("\ufeff", "");
          expect(chunks.map((chunk) => solid(chunk.text)).join("")).toBe(solid(text));
          for (const chunk of chunks) {
            expect(weightOf(chunk.text)).toBeLessThanOrEqual(1610);
            expect(chunk.firstLine).toBeLessThanOrEqual(chunk.lastLine);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it("of a real file have names", () => {
    const text = readFileSync(new URL("../../system/sqlite/database.ts", import.meta.url), "utf8");
    const titles = chunkDocument(text, "code").map(({ title }) => title);
    expect(titles).toContain("Database");
    expect(titles.length).toBeGreaterThan(8);
  });
});
