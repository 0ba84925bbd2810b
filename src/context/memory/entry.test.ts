import fc from "fast-check";
import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { cutLine, MEMORY_TYPES, nameFrom, readEntry, writeEntry } from "./entry.js";
import { updatedIndex } from "./index-file.js";

const AT = "2026-03-01T10:00:00.000Z";
const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 80 }),
  fc.constantFrom(
    "---",
    "a: b",
    '"',
    "'",
    "# x",
    "- x",
    "[x](y.md)",
    "true",
    "null",
    "12",
    "\\u0041",
    "x\n---\ny: z\n",
    "‮x",
    "\u2028",
    "{a}",
    "&a",
    "*a",
    "!tag",
    "|",
    ">",
    "%x",
    "@x",
    "`",
  ),
);

describe("a memory file", () => {
  verifies(["X4"], "gives back what was written, whatever the words are", () => {
    const facts = fc.record({
      name: text,
      description: text,
      body: text,
      tags: fc.array(text, { maxLength: 3 }),
      type: fc.constantFrom(...MEMORY_TYPES),
    });
    fc.assert(
      fc.property(facts, ({ name: words, description: about, body, tags, type }) => {
        const name = nameFrom(words) ?? "note";
        const description = cutLine(about) || "x";
        const written = writeEntry({
          name,
          description,
          body,
          type,
          tags: tags.map(cutLine).filter((tag) => tag !== ""),
          created: AT,
          updated: AT,
        });
        const read = readEntry({ text: written, stem: name, path: `/m/${name}.md`, scope: "user", changedAt: 0 });
        if ("message" in read) throw new Error(`${read.message}\n${written}`);
        const line = (value: string) => value.replace(/[\s\p{Cc}]+/gu, " ").trim();
        expect([read.name, read.description, read.type, read.body, read.created]).toEqual([
          name,
          line(description),
          type,
          body.replace(/\r\n?/g, "\n").trim(),
          AT,
        ]);
        expect(read.tags).toEqual(
          tags
            .map(cutLine)
            .map(line)
            .filter((tag) => tag !== ""),
        );
        expect(read.other).toEqual([]);
        expect(name).toMatch(/^[\p{L}\p{N}-]{1,60}$/u);
      }),
      { numRuns: 150, seed: 11 },
    );
  });

  verifies(["X4"], "has one line in the index, and updating the index again changes nothing", () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}( \(\d\))?$/), { maxLength: 6 });
    fc.assert(
      fc.property(names, names, text, (now, before, words) => {
        const entries = (all: readonly string[]) => ({
          entries: all.map((name) => ({ name, description: cutLine(words) })),
          unreadable: [],
        });
        const old = updatedIndex(`${words}\n\nMy line.\n`, entries(before));
        const index = updatedIndex(old, entries(now));
        expect(updatedIndex(index, entries(now))).toBe(index);
        expect(index).toContain("My line.");
        expect(index.split("\n").filter((line) => /^- \[[a-z]{1,6}/.test(line)).length).toBe(now.length);
      }),
      { numRuns: 100, seed: 5 },
    );
  });
});
