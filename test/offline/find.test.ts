import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { verifies } from "../verifies.js";
import { openScene, type Scene, type SceneOptions } from "./scene.js";

const scenes: Scene[] = [];

async function scene(files: Readonly<Record<string, string>>, options: SceneOptions = {}): Promise<Scene> {
  const opened = await openScene(files, options);
  scenes.push(opened);
  return opened;
}

afterEach(async () => {
  for (const opened of scenes.splice(0)) await opened.close();
});

const HEADLINE = "find every TODO in this project and tell me which file has most";

const PROJECT = {
  ".gitignore": "dist/\n*.log\n",
  "src/a.ts": "// TODO one\nconst a = 1; // TODO two TODO three\n",
  "src/deep/b.ts": "// TODO four\n",
  "src/c.ts": "// todo in lower case\n",
  "docs/notes.md": "TODO five\nTODOs six\n",
  "dist/out.js": "// TODO TODO TODO TODO TODO TODO\n",
  "debug.log": "TODO\n",
  "image.bin": "TODO\0TODO",
};

/** Counted by reading every file, without any of the program's own code. */
async function countByHand(root: string, word: string, isIgnored: (path: string) => boolean) {
  const counts = new Map<string, number>();
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = relative(root, join(entry.parentPath, entry.name));
    const text = await readFile(join(root, path), "utf8");
    const count = text.split(word).length - 1;
    if (count > 0 && !text.includes("\0") && !isIgnored(path)) counts.set(path, count);
  }
  return counts;
}

describe.each([
  ["with ripgrep if there is one", {}],
  ["without ripgrep", { ripgrep: false as const }],
])("finding, %s", (_name, options) => {
  verifies(["M6"], "the file with most of something is the one that a count by hand gives", async () => {
    const project = await scene(PROJECT, options);
    const answer = await project.ask(HEADLINE);
    const byHand = await countByHand(project.root, "TODO", (path) => /^dist|\.log$/.test(path));
    const [winner] = [...byHand].sort(([, m], [, n]) => n - m);
    const total = [...byHand.values()].reduce((sum, count) => sum + count, 0);
    expect(winner).toEqual(["src/a.ts", 3]);
    expect(answer).toContain(
      `\`src/a.ts\` has the most: 3 occurrences. \`TODO\`: ${total} occurrences in this project, in ${byHand.size} files.`,
    );
    for (const [path, count] of byHand) expect(answer).toContain(`${count}  ${path}`);
    expect(answer).toContain("  2: const a = 1; // TODO two TODO three");
    expect(answer).not.toContain("dist/out.js");
    expect(answer).toMatch(/\(offline model: rules, no language model\..*\)$/);
    expect(project.last?.outcome).toBe("answered");
    expect(project.calls()).toEqual(["grep", "grep"]);
  });

  it("says when it is a tie", async () => {
    const project = await scene({ "b.txt": "TODO\n", "a.txt": "TODO\n", "c.txt": "nothing\n" }, options);
    expect(await project.ask(HEADLINE)).toContain("A tie between 2 files with 1 occurrence each: `a.txt` and `b.txt`.");
  });

  it("says when there is nothing", async () => {
    const project = await scene({ "a.txt": "done\n" }, options);
    expect(await project.ask(HEADLINE)).toContain("`TODO` was not found in this project.");
  });

  it("counts occurrences in one file, not lines", async () => {
    const project = await scene({ "a.txt": "x x\nx.y\nX\n" }, options);
    expect(await project.ask("how many times does x occur in a.txt")).toContain("`x`: 3 occurrences in `a.txt`.");
    expect(await project.ask("how many times does x occur in a.txt, ignoring case")).toContain("4 occurrences");
    expect(await project.ask("how many times does 'x.' occur in a.txt")).toContain("1 occurrence in");
  });

  it("answers yes or no about one file", async () => {
    const project = await scene({ "a.md": "Use Docker.\nNo docker.\n" }, options);
    expect(await project.ask("does a.md mention docker?")).toContain("Yes. `docker`: 1 matching line in `a.md`.");
    expect(await project.ask("does a.md mention podman?")).toContain("No. `podman` was not found in `a.md`.");
  });

  it("takes quoted text literally", async () => {
    const project = await scene({ "a.txt": "f(a.b) + [c]\nfXaYb\n", "b.txt": "f(a_b)\n" }, options);
    const answer = await project.ask('which files contain "f(a.b) + ["?');
    expect(answer).toContain("1 file in this project contains");
    expect(answer).toContain("- a.txt");
  });

  it("keeps to a folder and to a kind of file", async () => {
    const files = { "src/a.ts": "needle\n", "src/a.md": "needle\n", "test/a.ts": "needle\n" };
    const project = await scene(files, options);
    expect(await project.ask("search src for needle")).toContain("2 matching lines in 2 files of `src`");
    expect(await project.ask("which files mention needle in TypeScript files")).toContain(
      "2 files in TypeScript files of this project contain `needle`:\n\n- src/a.ts\n- test/a.ts",
    );
    expect(await project.ask("how many times does needle occur in markdown files in src")).toContain(
      "1 occurrence in Markdown files of `src`, all in `src/a.md`",
    );
  });

  it("tells where a name is defined, and where it is only mentioned", async () => {
    const files = {
      "src/loop.ts":
        'import { other } from "./other.js";\n\nexport async function runTurn(turn: Turn) {\n  return other;\n}\n',
      "src/use.ts": "const result = await runTurn(turn);\nrunTurn(2);\n",
      "lib/tool.py": "class Tool:\n    def run(self):\n        pass\n",
      "main.c": "int start(void)\n{\n}\n",
      "docs/text.md": "The function runTurn is described here.\n",
    };
    const project = await scene(files, options);
    expect(await project.ask("where is runTurn defined?")).toContain("`runTurn` is defined at `src/loop.ts:3`.");
    expect(await project.ask("where is the class Tool")).toContain("`lib/tool.py:1`");
    expect(await project.ask("find the function start")).toContain("`main.c:1`");
    const answer = await project.ask("where is other defined");
    expect(answer).toContain("No line in this project looks like a definition of `other`, but it is mentioned");
    expect(answer).toContain("src/loop.ts");
    expect(await project.ask("where is nowhereAtAll defined")).toContain("was not found");
  });
});

describe("a search with more than one listing holds", () => {
  it("says that the numbers are partial", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 2_050 }, (_, index) => [`f/${String(index).padStart(4, "0")}.txt`, "TODO\n"]),
    );
    const project = await scene(files);
    const answer = await project.ask(HEADLINE);
    expect(answer).toContain("among the files that were listed");
    const listed = /This is partial: the search listed the first ([\d,]+) of 2,050 files by path\./.exec(answer)?.[1];
    expect(listed).toBeDefined();
    expect(answer).toContain(`at least ${listed} occurrences`);
    expect(await project.ask("which files mention TODO")).toContain("2,050 files in this project contain `TODO`");
    expect(await project.ask("how many .txt files are there")).toContain("There are 2,050 *.txt files");
  });
});

describe("impossible requests are reported", () => {
  it("when the folder does not exist", async () => {
    const project = await scene({ "a.txt": "x\n" });
    const answer = await project.ask("search for x in nowhere");
    expect(answer).toContain("I could not finish: `grep` (x) failed.");
    expect(answer).toContain("nowhere does not exist");
  });

  it("when no tool is offered", async () => {
    const project = await scene({ "a.txt": "x\n" }, { sets: [] });
    expect(await project.ask(HEADLINE)).toContain("needs the tool `grep`, which is not offered in this run");
  });

  it("when everything is refused", async () => {
    const project = await scene({ "a.txt": "TODO\n" }, { mode: "deny" });
    expect(await project.ask(HEADLINE)).toContain("--permission-mode deny");
    expect(project.calls()).toEqual([]);
  });
});
