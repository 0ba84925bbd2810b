import { describe, expect, it } from "vitest";
import type { Tool, ToolRegistry } from "../../engine/ports.js";
import { readCall } from "../../engine/read-call.js";
import { CATALOG } from "../catalog.js";
import { readEditArguments } from "./arguments.js";
import { type NewLine, type QuotedLine, reindent } from "./reindent.js";

/** `quoted|actual` indentation with its words; `+` for a line that stays. */
const old = (...lines: readonly string[]): QuotedLine[] =>
  lines.map((each) => {
    const [, quoted = "", actual = "", kept, words = ""] = /^([\t ]*)\|([\t ]*)(\+?)(.*)$/.exec(each) ?? [];
    return { quoted, actual, line: actual + words, kept: kept === "+" };
  });
const fresh = (...lines: readonly string[]): NewLine[] =>
  lines.map((line, at) => ({
    line,
    indent: /^[\t ]*/.exec(line)?.[0] ?? "",
    ...(at === 0 && { opens: true as const }),
  }));
const paired = (...lines: readonly string[]): NewLine[] =>
  fresh(...lines).map((line, at) => ({ ...line, partner: at }));

const LINE = { startsWithLine: true, frame: undefined };
const BEFORE = { startsWithLine: false, frame: undefined };

describe("[T1] the indentation of new lines", () => {
  it.each([
    ["is as given where the quotation is exact", old("  |  a()"), fresh("    b()"), LINE, ["    "]],
    ["is shifted with the quotation where a line stays", old("|  +a()", "|  b()"), fresh("c()"), LINE, ["  "]],
    ["is shifted back", old("    |  +a()", "    |  b()"), fresh("    c()", "      d()"), LINE, ["  ", "    "]],
    ["cannot be shifted back further than there is", old("    |  +a()", "    |  b()"), fresh(" c()"), LINE, undefined],
    [
      "stays where the new lines are like the file",
      old("|  first(word, here)", "|  +k()"),
      fresh("  first(word, there)"),
      LINE,
      undefined,
    ],
    [
      "stays where all evidence is of the file",
      old("|  first(word, here)"),
      fresh("  first(word, there)", "  x()"),
      BEFORE,
      ["  ", "  "],
    ],
    ["is unknown without evidence", old("  |    a()", "    |      b()"), fresh("    c()"), LINE, undefined],
    [
      "is converted from spaces to tabs by levels",
      old("  |\t+a()", "    |\t\tb()"),
      fresh("      c()", "  d()"),
      LINE,
      ["\t\t\t", "\t"],
    ],
    ["is unknown between two levels", old("  |\t+a()", "    |\t\tb()"), fresh("   c()"), LINE, undefined],
    ["is unknown where the levels are uneven", old("  |\t+a()", "   |\t\tb()"), fresh("   c()"), LINE, undefined],
    ["is unknown where one depth has two", old("  |    a()", "  |      b()"), fresh("  c()"), LINE, undefined],
    ["does not mix tabs and spaces", old("|\t+a()", "|\tb()"), fresh("  c()"), LINE, undefined],
  ] as const)("%s", (_, quoted, added, options, expected) => {
    expect(reindent(quoted, added, options)).toEqual(expected);
  });

  it("is shifted where the new lines are known to be like the quotation", () => {
    const quoted = old("  |    a()", "    |      b()");
    expect(reindent(quoted, fresh("    c()"), { startsWithLine: true, frame: "quotation" })).toEqual(["      "]);
  });

  it.each([
    ["one line for another that is like it", old("|  call(one, two)", "|  +end()"), fresh("call(one, three)"), ["  "]],
    ["the first line as the file has it", old("|  call(one, two)", "  |  end()"), fresh("  call(one, three)"), ["  "]],
    ["a first line that is deeper", old("|  call(one, two)", "  |  end()"), fresh("   call(one, three)"), undefined],
    [
      "lines that all are as deep as the block",
      old("|  a()", "    |    b()"),
      [...paired("c()"), ...fresh("  d()").map(({ line, indent }) => ({ line, indent }))],
      ["  ", "  "],
    ],
    [
      "lines that begin at the left like the first",
      old("|  a()", "  |  b()"),
      [...paired("c()"), { line: "d()", indent: "" }],
      ["  ", "  "],
    ],
    [
      "lines that begin at the left in a deeper block",
      old("|  a()", "    |    b()"),
      [...paired("c()"), { line: "d()", indent: "" }],
      undefined,
    ],
    ["another line in its place", old("|  a()", "  |  b()"), fresh("entirely_other"), undefined],
  ] as const)("after a start that was cut: %s", (_, quoted, added, expected) => {
    expect(reindent(quoted, added, LINE)).toEqual(expected);
  });

  it.each([
    [
      "each that replaces one like it",
      old("|  call(one, two)", "|  call(three, four)"),
      paired("call(one, 2)", "call(three, 4)"),
      ["  ", "  "],
    ],
    [
      "neighbours at different depths",
      old("|  call(one, two)", "|    call(three, four)"),
      paired("call(one, 2)", "call(three, 4)"),
      undefined,
    ],
    ["one alone at its depth", old("|  call(one, two)", "|    call(three, four)"), paired("call(one, 2)"), ["  "]],
    ["one that is unlike", old("|  call(one, two)", "|    x()"), paired("entirely_other"), undefined],
    ["one that is indented", old("|  call(one, two)", "|    x()"), paired(" call(one, 2)"), undefined],
    ["one without its line", old("|  call(one, two)", "|    x()"), fresh("call(one, 2)"), undefined],
  ] as const)("in a quotation without any indentation: %s", (_, quoted, added, expected) => {
    expect(reindent(quoted, added, BEFORE)).toEqual(expected);
  });
});

const EDIT: Tool = { ...CATALOG.edit, run: async () => ({ status: "ok", content: [] }) };
const EDIT_ONLY: ToolRegistry = { list: () => [EDIT], find: (name) => (name === "edit" ? EDIT : undefined) };

describe("[T1] the arguments of an edit", () => {
  const one = (more: object = {}) => ({ path: "f", edits: [{ old: "a", new: "b", ...more }] });
  it.each([
    [{ path: "f", old: "a", new: "b" }, one()],
    [{ file_path: "f", old_string: "a", new_string: "b", replace_all: true }, one({ all: true })],
    [{ filePath: "f", oldString: "a", newString: "b", replaceAll: "true" }, one({ all: true })],
    [{ file: "f", old_str: "a", new_str: "b", allow_multiple: false }, one({ all: false })],
    [{ filename: "f", changes: { search: "a", replace: "b" } }, one()],
    [{ path: "f", edits: '[{"find":"a","replacement":"b"}]' }, one()],
    [{ path: "f", replacements: '{"oldText":"a","newText":"b"}' }, one()],
    [{ path: "f", edits: [{ old_text: "a", new_text: "b" }], old: null }, one()],
    [
      { path: "f", edits: "no JSON" },
      { path: "f", edits: ["no JSON"] },
    ],
    [
      { path: "f", edits: [5] },
      { path: "f", edits: [5] },
    ],
    [
      { path: null, file: "f", new: "b" },
      { path: "f", edits: [{ new: "b" }] },
    ],
    [{ path: "f" }, { path: "f" }],
  ] as const)("%j are %j", (args, expected) =>
    expect(readCall(EDIT_ONLY, { tool: "edit", args: args as never }).args).toEqual(expected),
  );

  it.each([
    [{}, '"path" must be the path of a file.'],
    [{ path: "" }, '"path" must be the path of a file.'],
    [{ path: "f" }, '"edits" must be a list of { "old", "new" } with at least one entry.'],
    [{ path: "f", edits: [] }, '"edits" must be a list of { "old", "new" } with at least one entry.'],
    [
      { path: "f", edits: [{ old: "a", new: "b" }, { old: "a" }] },
      '"edits[1]" must have "old" and "new", both strings.',
    ],
    [{ path: "f", edits: [{ new: "a" }] }, '"edits[0]" must have "old" and "new", both strings.'],
    [{ path: "f", edits: ["x"] }, '"edits[0]" must have "old" and "new", both strings.'],
    [
      { path: "f", edits: [{ old: "a", new: "b" }] },
      { path: "f", edits: [{ old: "a", new: "b", all: false }] },
    ],
    [
      { path: "f", edits: [{ old: "a", new: "b", all: true, count: 2 }] },
      { path: "f", edits: [{ old: "a", new: "b", all: true, count: 2 }] },
    ],
  ] as const)("%j are read as %j", (args, expected) => expect(readEditArguments(args as never)).toEqual(expected));
});
