import { describe, expect, it } from "vitest";
import { codeSections } from "./code-sections.js";

/** Returns each section as its title and its lines, from 1. */
function sectionsOf(text: string): readonly string[] {
  return codeSections(text.split("\n")).map(({ title, from, to }) => `${title} ${from + 1}-${to}`);
}

describe("the sections of code", () => {
  it.each([
    ["a declaration", "function a() {\n  x;\n}\nclass B {}", ["a 1-3", "B 4-4"]],
    ["what comes before the first", "import x from 'y';\n\nfunction a() {\n}", [" 1-2", "a 3-4"]],
    ["the comments right above", "let a = 1;\n\n/** Of b. */\n// and\nfunction b() {}", ["a 1-2", "b 3-5"]],
    ["decorators right above", "import y\n\n@cached\n@twice\ndef b():\n  pass", [" 1-2", "b 3-6"]],
    ["a comment between two that touch", "let a = 1;\n// Of b.\nlet b = 2;", ["a 1-1", "b 2-3"]],
    ["a comment that begins the text is about all of it", "// All.\nlet a = 1;", [" 1-1", "a 2-2"]],
    ["a comment behind a blank line", "let a = 1;\n// far\n\nlet b = 2;", ["a 1-3", "b 4-4"]],
    ["preprocessor lines are no comments", "int a() {\n}\n#define X 1\nint b() {\n}", ["a 1-3", "b 4-5"]],
    ["a closing word declares nothing", "def a\nend\nelse foo(\nfn b() {\n}", ["a 1-3", "b 4-5"]],
    ["indented lines begin nothing", "def a():\n  def b():\n    pass", ["a 1-3"]],
    ["other ways to declare", "x.y = function () {\n};\npub(crate) async fn z<T>() {}", ["x.y 1-2", "z 3-3"]],
    ["a long line declares nothing", `function a${" ".repeat(300)}() {}\nlet b = 1;`, [" 1-1", "b 2-2"]],
  ])("%s", (_, text, sections) => {
    expect(sectionsOf(text)).toEqual(sections);
  });

  it("have the places where they can be cut: members with their comments, then paragraphs", () => {
    const text = [
      "class A {",
      "  x = 1;",
      "  // Of b.",
      "  b() {",
      "    one;",
      "",
      "    two;",
      "  }",
      "",
      "  last;",
      "}",
    ].join("\n");
    expect(codeSections(text.split("\n")).map(({ cuts }) => cuts)).toEqual([
      [
        [2, 9],
        [6, 9],
      ],
    ]);
  });

  it("have a title of at most 100 characters, and none far behind their beginning", () => {
    expect(codeSections([`let ${"a".repeat(200)} = 1`])[0]?.title).toBe("a".repeat(100));
    const far = (notes: number) => ["all", ...Array<string>(notes).fill("// note"), "let a = 1;"];
    expect(codeSections(far(39)).map(({ title }) => title)).toEqual(["", "a"]);
    expect(codeSections(far(40)).map(({ title }) => title)).toEqual(["", ""]);
  });
});
