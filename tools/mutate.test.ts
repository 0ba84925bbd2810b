import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { main } from "./mutate/mutate.mjs";
import { applied, mutationsOf } from "./mutate/mutations.mjs";
import { Imports } from "./mutate/related.mjs";

const folders: string[] = [];

afterEach(() => {
  vi.restoreAllMocks();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A folder with these files. */
function plant(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "oxbow-mutate-"));
  folders.push(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

const mutants = (source: string) => mutationsOf(source).map((each) => applied(source, each));

describe("mutations", () => {
  it.each([
    [
      "if (a && b) f();",
      ["{}", "if (!(a && b)) f();", "if (((a) || (b))) f();", "if ((a)) f();", "if ((b)) f();", "if (a && b) {}"],
    ],
    ["const x = a < 3;", ["const x = a <= 3;", "const x = a < 6;"]],
    [
      "const x = [1, f, 2];",
      ["const x = [2, f, 2];", "const x = [f, 2];", "const x = [1, 2];", "const x = [1, f];", "const x = [1, f, 3];"],
    ],
    ["const x = !a.some(f);", ["const x = (a.some(f));", "const x = !a.every(f);"]],
    ["const x = { 1: true };", ["const x = { 1: false };"]],
    ["async () => { await f(); };", ["{}", "async () => { (f()); };", "async () => { {} };"]],
    ["function f(): 1 | true { return 0 as 5; }", ["function f(): 1 | true { return 1 as 5; }"]],
  ])("of %s", (source, expected) => {
    expect(mutants(source)).toEqual(expected);
  });

  it("leave alone what does not run: types, imports, texts and values that are returned", () => {
    const source =
      'import { a } from "b";\ninterface A { readonly b: [1, 2] }\ntype B = true;\nfunction f() { return a; }\nconst c = "x";\n';
    expect(mutants(source)).toEqual([]);
  });

  it("name their line", () => {
    expect(mutationsOf("const a = b;\n\nf();\n").map(({ line }) => line)).toEqual([3]);
  });
});

/** A project with one well tested function and one that no test looks at. */
function fixture(): string {
  const root = plant({
    "src/sure.ts": "export function isAdult(age: number): boolean {\n  return age >= 18;\n}\n",
    "src/unsure.ts": "export function half(value: number): number {\n  return value - 1;\n}\n",
    "src/test-support/half.ts": "export const half = (value: number) => value / 2;\n",
    "src/half-testbed.ts": "export const half = (value: number) => value / 2 + 0;\n",
    "src/types.ts": "export function words(text: string): string {\n  return text + text;\n}\n",
    // Like some tests of the project, it fails if temporary files are inside the project.
    "src/sure.test.ts": `
      import { tmpdir } from "node:os";
      import { expect, it } from "vitest";
      import { isAdult } from "./sure.js";
      it("counts", () => expect([17, 18].map(isAdult)).toEqual([false, true]));
      it("is elsewhere", () => expect(tmpdir().startsWith(process.cwd())).toBe(false));
    `,
    "src/unsure.test.ts":
      'import { expect, it } from "vitest";\nimport { half } from "./unsure.js";\nit("is", () => expect(half(2)).toBeTypeOf("number"));\n',
    "src/broken.test.ts":
      'import { expect, it } from "vitest";\nimport { half } from "./unsure.js";\nit("always fails", () => expect(half(2)).toBe("x"));\n',
    "tsconfig.json": '{ "compilerOptions": { "strict": true, "noEmit": true, "types": [] } }',
    "package.json": '{ "type": "module" }',
    ".gitignore": "node_modules\n",
  });
  symlinkSync(join(import.meta.dirname, "..", "node_modules"), join(root, "node_modules"));
  execFileSync("git", ["init", "-q"], { cwd: root });
  return root;
}

async function report(args: readonly string[], root: string): Promise<readonly string[]> {
  const lines: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
  await main(args, root);
  return lines;
}

describe("npm run mutate", () => {
  it("tells found mutations from survivors and from those that do not compile, and continues", async () => {
    const root = fixture();
    const results = join(root, "results.jsonl");
    const args = ["src", "--seed", "7", "--count", "9", "--results", results];
    const lines = await report(args, root);
    const of = (file: string) =>
      lines.filter((line) => line.includes(`src/${file}:2`)).map((line) => line.slice(0, 16).trim());
    expect([of("sure.ts"), of("unsure.ts")]).toEqual([["found"], ["survived"]]);
    expect(of("types.ts")).toEqual(["does not compile"]);
    expect(lines[0]).toBe("seed 7");
    expect(lines.at(-1)).toBe("all: 1 of 2 found (50 %), 1 did not compile");
    expect(lines.find((line) => line.startsWith("found"))).toContain("[src/sure.test.ts]");
    // Nothing is tried again, and the project is as it was.
    const written = readFileSync(results, "utf8");
    expect(await report(args, root)).toEqual(lines);
    expect(readFileSync(results, "utf8")).toBe(written);
    rmSync(results);
    expect(execFileSync("git", ["status", "--porcelain", "-uall"], { cwd: root, encoding: "utf8" })).not.toContain(
      "mutate",
    );
    expect(readFileSync(join(root, "src/sure.ts"), "utf8")).toContain("age >= 18");
    expect(readdirSync(join(root, "src"))).toHaveLength(8);
  });

  it("draws the same mutations for the same seed, and lists them without tests", async () => {
    const root = fixture();
    const [one, again] = [
      await report(["src", "--seed", "3", "--list"], root),
      await report(["src", "--seed", "3", "--list"], root),
    ];
    expect(again).toEqual(one);
    expect(one.filter((line) => line.startsWith("drawn"))).toHaveLength(2);
    await expect(main(["--count", "many"], root)).rejects.toThrow("--count needs a number");
    await expect(main(["src/nothing"], root)).rejects.toThrow("nothing to mutate in src/nothing");
  });
});

it("stops where the compiler is missing, because no mutation would compile", async () => {
  const root = fixture();
  rmSync(join(root, "node_modules"));
  await expect(report(["src", "--list"], root)).rejects.toThrow("The compiler does not start");
});

it("the tests of a file are those that load it, the most direct first", () => {
  const files: Record<string, string> = {
    "src/a/one.ts": "export const x = 1;",
    "src/a/one.test.ts": 'import { x } from "./one.js";',
    "src/a/other.test.ts": 'import { y } from "../b/two.js";',
    "src/b/two.ts": 'export const y = () => import("../a/one.js");',
    "src/b/three.ts": 'import type { x } from "../a/one.js";',
    "src/b/three.test.ts": 'import "./three.js";',
    "test/all.test.ts": 'import "../src/b/two.js";',
    "test/one-more.test.ts": 'import "../src/b/two.js";',
    "test/e2e/run.test.ts": 'import "../../src/a/one.js";',
    "src/c/child.test.ts": 'buildChildPrograms(import.meta.url, "writer");',
    "src/c/test-support/writer.child.ts": 'import "../../a/one.js";',
    "src/c/alone.test.ts": "",
  };
  expect(new Imports(plant(files), Object.keys(files)).testsOf("src/a/one.ts")).toEqual([
    "src/a/one.test.ts",
    "src/a/other.test.ts",
    "test/one-more.test.ts",
    "src/c/child.test.ts",
    "test/all.test.ts",
  ]);
});
