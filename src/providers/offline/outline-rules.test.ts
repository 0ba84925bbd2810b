import { describe, expect, it } from "vitest";
import { outlineParts } from "./outline-rules.js";

function outline(path: string, source: string) {
  const lines = source.split("\n").map((text, index) => ({ line: index + 1, text }));
  return outlineParts(path, lines)?.map(({ line, kind, text }) => `${line} ${kind}: ${text}`);
}

describe("the parts of a file", () => {
  it("are found in TypeScript", () => {
    const source = `import { a } from "a";
// function commented() {}
/** class Documented { */
export interface Shape extends Base {
  readonly side: number;
}
export type Name = string;
export const LIMIT = 5;
const local = 1;
export const double = (n: number): number => n * 2;
export async function* walk<T>(root: T) {
  if (root) {
    return helper(root);
  }
}
export default class Box<T> extends Base {
  readonly #side = 1;
  constructor(side: number) {
    super();
  }
  async area(scale: number): Promise<number> {
    for (const x of y) {
    }
  }
  get side() { return this.#side; }
}
export { local as other };`;
    expect(outline("src/x.ts", source)).toEqual([
      '1 import: import { a } from "a";',
      "4 type: export interface Shape extends Base",
      "7 type: export type Name = string;",
      "8 constant: export const LIMIT = 5;",
      "10 function: export const double = (n: number): number => n * 2;",
      "11 function: export async function* walk<T>(root: T)",
      "16 class: export default class Box<T> extends Base",
      "18 function: constructor(side: number)",
      "21 function: async area(scale: number): Promise<number>",
      "25 function: get side() { return this.#side; }",
      "27 export: export { local as other };",
    ]);
  });

  it("are found in Python", () => {
    const source =
      "import os\n\nLIMIT = 3\n\nclass Box(Base):\n    def area(self):\n        return 1\n\nasync def main():\n    pass";
    expect(outline("a.py", source)).toEqual([
      "1 import: import os",
      "3 constant: LIMIT = 3",
      "5 class: class Box(Base)",
      "6 function: def area(self)",
      "9 function: async def main()",
    ]);
  });

  it("are found in Go, Rust, C, Java, Ruby and shell", () => {
    expect(outline("a.go", "type Box struct {\n}\nfunc (b *Box) Area() int {\n}\nfunc main() {\n}")).toEqual([
      "1 type: type Box struct",
      "3 function: func (b *Box) Area() int",
      "5 function: func main()",
    ]);
    expect(outline("a.rs", "pub struct Box;\nimpl Box {\n    pub fn area(&self) -> u8 {\n    }\n}")).toEqual([
      "1 class: pub struct Box;",
      "2 class: impl Box",
      "3 function: pub fn area(&self) -> u8",
    ]);
    expect(
      outline("a.c", '#include "a.h"\nstatic int area(int side)\n{\n  return f(side);\n}\nint main(void) {\n}'),
    ).toEqual(['1 import: #include "a.h"', "2 function: static int area(int side)", "6 function: int main(void)"]);
    expect(
      outline("A.java", "public class A {\n  public int area(int side) {\n    if (side > 0) {\n    }\n  }\n}"),
    ).toEqual(["1 class: public class A", "2 function: public int area(int side)"]);
    expect(outline("a.rb", "class A < B\n  def area?\n  end\nend")).toEqual([
      "1 class: class A < B",
      "2 function: def area?",
    ]);
    expect(outline("a.sh", "area() {\n  echo 1\n}")).toEqual(["1 function: area()"]);
  });

  it("are the headings of Markdown, outside fences", () => {
    expect(outline("README.md", "# Title\n\n```sh\n# comment\n```\n\n## Part")).toEqual([
      "1 heading: # Title",
      "7 heading: ## Part",
    ]);
  });

  it("are keys, sections and targets elsewhere", () => {
    expect(outline("package.json", '{\n  "name": "x",\n  "scripts": {\n    "test": "y"\n  }\n}')?.slice(0, 2)).toEqual([
      '2 key: "name": "x",',
      '3 key: "scripts"',
    ]);
    expect(outline("Cargo.toml", '[package]\nname = "x"\n[[bin]]')).toEqual([
      "1 heading: [package]",
      "3 heading: [[bin]]",
    ]);
    expect(outline("Makefile", "X := 1\nall: build test\n\techo\n.PHONY: all")).toContain("2 target: all: build test");
  });

  it("are unknown for a file without patterns", () => {
    expect(outline("a.xyz", "anything")).toBeUndefined();
  });
});
