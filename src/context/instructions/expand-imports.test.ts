import { posix } from "node:path";
import { expect, it } from "vitest";
import { expandImports, type ImportPort } from "./expand-imports.js";

const FILES: Readonly<Record<string, string>> = {
  "/p/style.md": "Use tabs.\n",
  "/p/docs/deep.md": "Deep: @./deeper.md",
  "/p/docs/deeper.md": "bottom",
  "/p/loop.md": "again @./loop.md",
  ...Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`/p/n${n}.md`, `L${n} @./n${n + 1}.md`])),
};

const load: ImportPort = async (spelled, from) => {
  const path = posix.resolve(posix.dirname(from.path), spelled);
  if (path.startsWith("/etc")) return { problem: "leads out of the folder" };
  const text = FILES[path];
  return text === undefined ? { problem: undefined } : { path, text };
};

const expanded = (text: string) => expandImports({ path: "/p/AGENTS.md", text }, load);

it.each([
  ["at the start of a line", "@./style.md", "Use tabs."],
  [
    "within a sentence, with what follows",
    "See @style.md. Then (@./style.md) go.",
    "See Use tabs.. Then (Use tabs.) go.",
  ],
  ["from the file that names it", "@docs/deep.md", "Deep: bottom"],
  ["not in code", "```\n@./style.md\n```\nor `@./style.md`", "```\n@./style.md\n```\nor `@./style.md`"],
  [
    "not when it is a word",
    "@scope/package @someone a@b.md @types/node.",
    "@scope/package @someone a@b.md @types/node.",
  ],
  ["not when a bare name is no file", "@gone.md", "@gone.md"],
  ["with a note when a path is no file", "@./gone.md", "(./gone.md is left out: it does not exist)"],
  ["with a note when it may not be read", "@/etc/passwd", "(/etc/passwd is left out: it leads out of the folder)"],
  ["once within itself", "@./loop.md", "again (./loop.md is left out: it imports itself)"],
])("imports %s", async (_what, text, result) => {
  expect(await expanded(text)).toBe(result);
});

it("goes five files deep", async () => {
  const text = await expanded("@./n0.md");
  expect(text).toContain("L4");
  expect(text).not.toContain("L5");
  expect(text).toContain("nested too deeply");
});
