import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { REQUIREMENTS, type Requirement } from "./requirements.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SPECIFICATION = join(ROOT, "..", "shared", "spec", "features.md");

/** Finds where tests cite requirements: `verifies(["L5", "L6"], …)`, or `[L5 L6]` at the beginning of a test's name. */
function findCitations(source: string): string[] {
  const code = source.replace(/^\s*\/\/.*$|\/\*[\s\S]*?\*\//gm, "");
  const calls = [...code.matchAll(/\bverifies\(\s*\[([^\]]*)\]/g)].map(([, ids = ""]) => ids.match(/[A-Z]\d+/g) ?? []);
  const names = [
    ...code.matchAll(/\b(?:it|test|describe)[.\w]*(?:\([^()]*\))?\(\s*["'`]\[([A-Z]\d+(?: [A-Z]\d+)*)\] /g),
  ];
  return [...calls.flat(), ...names.flatMap(([, ids = ""]) => ids.split(" "))];
}

function findTests(): { file: string; citations: string[] }[] {
  return ["src", "test", "tools", "examples"]
    .filter((folder) => existsSync(join(ROOT, folder)))
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
    )
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => ({ file, citations: findCitations(readFileSync(join(ROOT, file), "utf8")) }));
}

describe("requirements", () => {
  const requirements: readonly Requirement[] = REQUIREMENTS;
  const tests = findTests();

  it("have unique ids", () => {
    expect(new Set(requirements.map(({ id }) => id)).size).toBe(requirements.length);
  });

  it("that are claimed are verified by a test", () => {
    const cited = new Set(tests.flatMap(({ citations }) => citations));
    const unverified = requirements.filter(({ id, status }) => status !== "open" && !cited.has(id));
    expect(unverified.map(({ id, title }) => `${id} ${title}`)).toEqual([]);
  });

  it("that tests cite exist", () => {
    const known = new Set(requirements.map(({ id }) => id));
    const unknown = tests.flatMap(({ file, citations }) =>
      citations.filter((id) => !known.has(id)).map((id) => `${file} cites ${id}`),
    );
    expect(unknown).toEqual([]);
  });

  it("[P17] of the threat model are shown by the tests that it names", () => {
    const page = readFileSync(join(ROOT, "docs", "threat-model.md"), "utf8");
    const [, promises = ""] = page.split("\n## Promises\n");
    const rows = promises.split("\n## ")[0]?.matchAll(/^\| (.+) \| ([A-Z]\d+(?: [A-Z]\d+)*) \| (.+) \|$/gm) ?? [];
    const found = [...rows].map(([, promise, ids = "", files = ""]) => ({
      promise,
      ids: ids.split(" "),
      files: [...files.matchAll(/`([^`]+\.test\.ts)`/g)].map(
        ([, file = ""]) => tests.find((each) => each.file === file) ?? file,
      ),
    }));
    expect(found.length).toBeGreaterThan(15);
    for (const { promise, ids, files } of found) {
      const open = requirements.filter(({ id, status }) => ids.includes(id) && status === "open");
      const missing = files.filter(
        (file) => typeof file === "string" || !file.citations.some((id) => ids.includes(id)),
      );
      expect({ promise, open, missing, files: files.length > 0 }).toEqual({
        promise,
        open: [],
        missing: [],
        files: true,
      });
    }
  });

  // The specification lies beside the project where it is built, and is no part of it.
  if (existsSync(SPECIFICATION)) {
    it("are those of the specification, in its order", () => {
      const rows = readFileSync(SPECIFICATION, "utf8").matchAll(/^\| ([A-Z]\d+) \|/gm);
      expect(requirements.map(({ id }) => id)).toEqual([...rows].map(([, id]) => id));
    });
  }
});

describe("finding citations", () => {
  it.each([
    ['verifies(["L5", "L6"], "name", () => {});', ["L5", "L6"]],
    ["verifies(\n  ['L5'],\n  'name',\n);", ["L5"]],
    ['it("[L5] name", () => {});', ["L5"]],
    ['describe("[L5 M10] name", () => {});', ["L5", "M10"]],
    ['it.each([1])("[L5] name", () => {});', ["L5"]],
    ['it.skipIf(true)("[L5] name", () => {});', ["L5"]],
    ['it("name [L5]", () => {});', []],
    ['// verifies(["L5"], "name", () => {});', []],
    ['/* it("[L5] name", () => {}); */', []],
    ['expect("[L5] name")', []],
  ])("%j", (source, expected) => {
    expect(findCitations(source)).toEqual(expected);
  });
});
