import { expect, test } from "vitest";
import { processorMs } from "../../test/support/processor-time.js";
import { readFrontMatter, wordsOf } from "./front-matter.js";
import { parseYaml, YamlError, type YamlValue } from "./yaml.js";

function plain(value: YamlValue): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, inner]) => [key, plain(inner)]));
  return Array.isArray(value) ? value.map(plain) : value;
}

const read = (text: string) => plain(parseYaml(text).value);
const problems = (text: string) => parseYaml(text).problems.map(({ message }) => message);

test("scalars stay text, whatever they look like", () => {
  expect(read("a: 1.0\nb: yes\nc: ~\nd:\ne: null\nf: 2024-01-02")).toEqual({
    a: "1.0",
    b: "yes",
    c: "~",
    d: null,
    e: "null",
    f: "2024-01-02",
  });
});

test("quotation marks, escapes and comments", () => {
  const text = `a: "x # y: \\"z\\" \\u00e9\\n" # comment\nb: 'it''s' #c\nc: a#b # c\n# d: e\n"f g": h`;
  expect(read(text)).toEqual({ a: 'x # y: "z" é\n', b: "it's", c: "a#b", "f g": "h" });
  expect(read(`a: "two\n  lines\n\n  more"\nb: 'x\n  y'`)).toEqual({ a: "two lines\nmore", b: "x y" });
});

test("block scalars keep or fold their lines", () => {
  expect(read("a: |\n  one\n    two\n\n  three\nb: x")).toEqual({ a: "one\n  two\n\nthree\n", b: "x" });
  expect(read("a: >-\n  one\n  two\n\n  three\n  # no comment\nb: x")).toEqual({
    a: "one two\nthree # no comment",
    b: "x",
  });
  expect(read("a: |-\n\n  x\n\n\nb: |+\n  y\n\nc: >\n  k: v\n    code\n  end")).toEqual({
    a: "\nx",
    b: "y\n\n",
    c: "k: v\n  code\nend\n",
  });
  expect(read("a: |2\n    x\n   y")).toEqual({ a: "  x\n y\n" });
});

test("lists and maps, nested and in flow style", () => {
  expect(
    read("a:\n  - x\n  - y: 1\n    z: 2\n  -\n    - deep\nb:\n- one\n- two\nc: [p, 'q', {r: s}]\nd: {e: f, g: [h]}"),
  ).toEqual({
    a: ["x", { y: "1", z: "2" }, ["deep"]],
    b: ["one", "two"],
    c: ["p", "q", { r: "s" }],
    d: { e: "f", g: ["h"] },
  });
  expect(read("a: [\n  x,\n  y, # c\n]\nb: {}")).toEqual({ a: ["x", "y"], b: {} });
  expect(read("metadata:\n  author: me\n  tags:\n    - a\nname: x")).toEqual({
    metadata: { author: "me", tags: ["a"] },
    name: "x",
  });
});

test("plain text continues in lines that are indented further", () => {
  expect(read("a: one\n  two\n\n  three\nb: x")).toEqual({ a: "one two\nthree", b: "x" });
});

test("what people write although YAML forbids it is read as text, and reported", () => {
  expect(read("description: Use when: the user asks")).toEqual({ description: "Use when: the user asks" });
  expect(read("hint: [file] [options]\nx: [A] b: c")).toEqual({ hint: "[file] [options]", x: "[A] b: c" });
  expect(read("globs: **/*.ts, *.js\nat: @me")).toEqual({ globs: "**/*.ts, *.js", at: "@me" });
  expect(read('a: "quoted" and more')).toEqual({ a: '"quoted" and more' });
  expect(read("a: 1\na: 2\n\tb: 3".replace("\tb", "b"))).toEqual({ a: "2", b: "3" });
  for (const text of ["d: Use when: x", "h: [a] [b]", "g: *.ts", 'q: "a" b', "a: 1\na: 2", "m:\n\tb: 1"]) {
    expect(problems(text)).toHaveLength(1);
  }
  expect(problems("a: b:c http://x\nb: 'x: y'")).toEqual([]);
});

test("text without a sensible reading is an error with its line", () => {
  for (const [text, line] of [
    ["a: b\nname: [open\nc: d", 2],
    ['a: "open\nb: c', 1],
    ["a: b\n   c: d\nno key", 3],
    ["a: {b: c", 1],
  ] as const) {
    expect(() => parseYaml(text)).toThrow(YamlError);
    expect(() => parseYaml(text)).toThrow(`at line ${line}`);
  }
});

test("hostile text is read in little time and touches no prototype", () => {
  const took = processorMs(() => {
    read(`a: ${" ".repeat(60_000)}b`);
    read(`a${" ".repeat(60_000)}b: c`);
    read(`a: ${"[".repeat(60_000)}`);
    expect(() => read(`a: [\n${" x,\n".repeat(20_000)}`)).toThrow(YamlError);
    expect(() => read(`${"- ".repeat(5_000)}x`)).toThrow("nested too deeply");
  });
  expect(read("__proto__:\n  polluted: yes")).toBeTypeOf("object");
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(took).toBeLessThan(2_000);
});

test("front matter with a byte-order mark, CRLF and a ruler in the body", () => {
  const found = readFrontMatter("\uFEFF---\r\nname: x\r\n---\r\nBody\r\n\r\n---\r\nmore");
  expect(found).toMatchObject({ state: "read", body: "Body\n\n---\nmore" });
  expect("fields" in found && found.fields.get("name")).toBe("x");
  expect(readFrontMatter("# no fields")).toMatchObject({ state: "none", body: "# no fields" });
  expect(readFrontMatter("---\nname: x\n")).toMatchObject({ fault: "unclosed" });
  expect(readFrontMatter("---\n- a\n---\n")).toMatchObject({ fault: "no mapping" });
  expect(readFrontMatter("---\n---\nbody")).toMatchObject({ state: "read", body: "body" });
});

test("words of a field in any of the ways people write them", () => {
  const words = (value: string) => wordsOf(parseYaml(`t: ${value}`).value as ReadonlyMap<string, YamlValue>, "t");
  expect(words("Bash(git add:*), Read, Grep")).toEqual(["Bash(git add:*)", "Read", "Grep"]);
  expect(words("Bash(git *) Read")).toEqual(["Bash(git *)", "Read"]);
  expect(words("[Read, Grep]")).toEqual(["Read", "Grep"]);
  expect(words("\n  - Read\n  - Bash(a, b)")).toEqual(["Read", "Bash(a, b)"]);
  expect(words("")).toEqual([]);
});
