import { afterEach, describe, expect, it } from "vitest";
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

const numbered = (length: number) => Array.from({ length }, (_, index) => `line ${index + 1}`).join("\n");

describe("listing", () => {
  const files = {
    ".gitignore": "dist\n",
    "README.md": "# A\n",
    "src/a.ts": "",
    "src/b.tsx": "",
    "src/deep/c.ts": "",
    "dist/d.ts": "",
    Makefile: "",
  };

  it("tells what is in a folder", async () => {
    const project = await scene(files);
    const answer = await project.ask("what's in src?");
    expect(answer).toContain("`src` holds 1 folder and 2 files:\n\n```\ndeep/\na.ts\nb.tsx\n```");
  });

  it("counts files by kind, without what is ignored", async () => {
    const project = await scene(files);
    expect(await project.ask("how many TypeScript files are there?")).toContain("There are 3 TypeScript files");
    expect(await project.ask("how many files are in src")).toContain("There are 3 files in `src`");
    expect(await project.ask("how many python files are there")).toContain("There are 0 Python files");
    expect(await project.ask("list all markdown files")).toContain("1 Markdown file in this project:\n\n- README.md");
    expect(await project.ask("how many files per extension")).toContain("2  (none)\n2  .ts\n1  .md\n1  .tsx");
    expect(await project.ask("how many folders are in this project")).toContain("3 folders with those inside");
  });

  it("finds files by name", async () => {
    const project = await scene(files);
    expect(await project.ask("where is c.ts")).toContain("- src/deep/c.ts");
    expect(await project.ask("is there a Dockerfile?")).toContain("There is no file named `Dockerfile`");
    expect(await project.ask("do we have a readme file")).toContain("- README.md");
    expect(await project.ask("find all *.ts* files in src")).toContain("3 files named `*.ts*` in `src`");
  });

  it("stays exact when there are more files than one listing holds", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 620 }, (_, n) => [`x/${n}.${n % 4 === 0 ? "md" : "txt"}`, ""]),
    );
    const project = await scene(many);
    const answer = await project.ask("count the files by extension");
    expect(answer).toContain("620 files in this project:\n\n```\n465  .txt\n155  .md\n```");
  });

  it("shows the tree and the largest files", async () => {
    const project = await scene({ ...files, "big.txt": "x".repeat(5_000) });
    expect(await project.ask("show the tree")).toContain("src/\n  deep/\n    c.ts\n  a.ts\n  b.tsx");
    expect(await project.ask("what is the largest file")).toContain("5,000  big.txt");
    expect(await project.ask("largest files in nowhere")).toContain("The sizes could not be found");
    const reading = await scene(files, { sets: ["read"] });
    expect(await reading.ask("largest files")).toContain("`--tool-set command`");
  });
});

describe("measuring", () => {
  it("counts lines, words and characters", async () => {
    const project = await scene({ "a.txt": "one two\nthree äöü\n", "b.txt": "no end", "empty.txt": "" });
    expect(await project.ask("how many lines does a.txt have")).toContain("`a.txt` has 2 lines.");
    expect(await project.ask("how many lines does b.txt have")).toContain("`b.txt` has 1 line.");
    expect(await project.ask("how many lines are in empty.txt")).toContain("`empty.txt` has 0 lines.");
    expect(await project.ask("how many words are in a.txt")).toContain("`a.txt` has 4 words");
    expect(await project.ask("how many characters are in b.txt")).toContain("`b.txt` has 6 characters");
    expect(await project.ask("how many lines does c.txt have")).toContain("c.txt does not exist");
  });

  it("adds up a folder and names the longest file", async () => {
    const project = await scene({ "src/a.ts": numbered(12), "src/b.ts": `${numbered(30)}\n`, "c.ts": numbered(99) });
    const answer = await project.ask("which file in src has the most lines?");
    expect(answer).toContain("`src/b.ts` has the most: 30 lines. `src` has 42 lines in 2 text files");
  });

  it("knows the length of a file that is too long to be shown", async () => {
    const project = await scene({ "long.txt": `${numbered(25_000)}\n` });
    expect(await project.ask("how many lines does long.txt have?")).toContain("`long.txt` has 25,000 lines.");
    expect(await project.ask("how many words does long.txt have?")).toContain("run `wc -w long.txt`");
  });
});

describe("reading", () => {
  const files = { "a.txt": `${numbered(30)}\n`, "README.md": "# Title\n\nSome text.\n", "docs/README.md": "# Other\n" };

  it("shows all of a file or the requested part", async () => {
    const project = await scene(files);
    expect(await project.ask("show me README.md")).toContain(
      "`README.md` (3 lines):\n\n```\n# Title\n\nSome text.\n```",
    );
    expect(await project.ask("show a.txt lines 3-4")).toContain(
      "`a.txt`, lines 3-4 of 30:\n\n```\nline 3\nline 4\n```",
    );
    expect(await project.ask("first two lines of a.txt")).toContain("lines 1-2 of 30");
    expect(await project.ask("last 2 lines of a.txt")).toContain("lines 29-30 of 30:\n\n```\nline 29\nline 30\n```");
    expect(await project.ask("show the readme")).toContain("`README.md` (3 lines)");
    expect(await project.ask("show a.txt lines 40-50")).toContain("has only 30 lines");
  });

  it("lists a folder instead of a file", async () => {
    const project = await scene(files);
    expect(await project.ask("show me ./docs/../docs")).toMatch(/is a folder|could not be read/);
    expect(await project.ask("open docs/README.md/x")).toContain("could not be read");
  });

  it("says when there is more than it shows", async () => {
    const project = await scene({ "long.txt": numbered(3_000), "wide.txt": "x".repeat(5_000) });
    expect(await project.ask("cat long.txt")).toContain("`long.txt`, lines 1-400 of 3000:");
    expect(await project.ask("cat wide.txt")).toContain("Some lines are cut.");
  });

  it("fences text that contains fences", async () => {
    const project = await scene({ "a.md": "```\ncode\n```\n" });
    expect(await project.ask("cat a.md")).toContain("````\n```\ncode\n```\n````");
  });
});

describe("describing", () => {
  it("describes a project by facts", async () => {
    const manifest = {
      name: "thing",
      version: "1.2.3",
      description: "Does things.",
      scripts: { test: "true", go: "echo" },
    };
    const project = await scene({
      "package.json": JSON.stringify(manifest, undefined, 2),
      "README.md": "# Thing\n\n[![badge](x)](y)\n\nIt does things,\nand more.\n\nLater text.\n",
      "src/a.ts": "",
      ".gitignore": "node_modules\n",
      "node_modules/x/a.js": "",
    });
    const answer = await project.ask("what is this project?");
    expect(answer).toContain("- folders at the top: src\n");
    expect(answer).toContain("Facts found in the project's own files");
    expect(answer).toContain("- name: thing 1.2.3 (package.json)\n- description: Does things. (package.json)");
    expect(answer).toContain("- it looks like a Node.js package (package.json)");
    expect(answer).toContain("4 files, not counting ignored ones");
    expect(answer).toContain("`README.md` begins:\n\n```\nIt does things,\nand more.\n```");
    expect(await project.ask("what scripts are there")).toContain("- `go`: echo");
    expect(await project.ask("what version is this")).toContain("1.2.3, says package.json");
  });

  it("describes a folder with nothing to go by", async () => {
    const project = await scene({ "a.txt": "x" });
    const answer = await project.ask("summarise this repo");
    expect(answer).toContain("- 1 file, not counting ignored ones: 1 text");
    expect(await project.ask("list the dependencies")).toContain("There is no package.json in this folder");
  });
});
