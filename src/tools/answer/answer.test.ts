import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { type AnswerChange, readAnswer } from "./answer-changes.js";
import { codeBlocks, withoutThoughts } from "./code-blocks.js";

const FENCE = "```";
const block = (info: string, content: string) => `${FENCE}${info}\n${content}\n${FENCE}`;

/** The names and texts of whole files. */
function texts(answer: string): readonly (readonly [string, string])[] {
  const { files, problems } = readAnswer(answer);
  expect(problems).toEqual([]);
  return files.map(({ path, changes }) => [path, textOf(changes[0])]);
}

function textOf(change: AnswerChange | undefined): string {
  return change?.kind === "write" ? change.content : (change?.kind ?? "");
}

const problemsOf = (answer: string) => readAnswer(answer).problems.join("\n");

describe("the blocks of an answer", () => {
  verifies(["U7"], "name their files on the fence", () => {
    const answer = [
      "Here:",
      block("go harvey/spinner.go", "package a"),
      block("README.md", "# hi"),
      block("ts:src/a.ts", "1"),
      block('python title="tools/x.py"', "2"),
      block("ts", "no file"),
      block("js v2.0", "no file"),
      block(".gitignore", "dist"),
      block("bash {linenos=true}", "no file"),
      block("src/a.ts", "newer"),
      block("ts // src/b.ts", "3"),
    ].join("\n\n");
    expect(texts(answer)).toEqual([
      ["harvey/spinner.go", "package a\n"],
      ["README.md", "# hi\n"],
      ["tools/x.py", "2\n"],
      [".gitignore", "dist\n"],
      ["src/a.ts", "newer\n"],
      ["src/b.ts", "3\n"],
    ]);
  });

  it("have fences of other lengths inside, lose their indentation, and must be complete", () => {
    const answer = `  ~~~~md a.md\n  ${FENCE}\n  inner\n  ${FENCE}\n  ~~~~\n${FENCE}ts b.ts\nnever ended`;
    expect(codeBlocks(answer)).toMatchObject([{ info: "md a.md", content: `${FENCE}\ninner\n${FENCE}\n` }]);
    expect(readAnswer(answer).notes).toEqual(["The block at line 6 (b.ts) has no end"]);
    // In a list; a fence that is indented more is text.
    const indented = block("py a.py", `"""\n    ${FENCE}sh\n    ls\n    ${FENCE}\n"""`);
    expect(texts(`1. Edit:\n\n${indented.replace(/^/gm, "    ")}`)).toEqual([
      ["a.py", indented.split("\n").slice(1, -1).join("\n").concat("\n")],
    ]);
    expect(codeBlocks("```inline``` text\n")).toEqual([]);
    expect(codeBlocks(`${FENCE}\r\na\r\n${FENCE}\r\n`)).toMatchObject([{ info: "", content: "a\n" }]);
  });

  it("do not come from what a model thinks", () => {
    const thoughts = `<think>\nMaybe:\n${block("ts a.ts", "draft")}\n</think>\n`;
    expect(codeBlocks(withoutThoughts(`${thoughts}${block("ts a.ts", "1")}`))).toMatchObject([
      { content: "1\n", line: 7 },
    ]);
    expect(withoutThoughts("<think>\nendless").trim()).toBe("");
  });

  const ABOVE = [
    "**src/a.ts**",
    "**src/a.ts:**",
    "`src/a.ts`:",
    "**`src/a.ts`**",
    "### src/a.ts",
    "#### `./src/a.ts`",
    "### 1. `src/a.ts`",
    "File: src/a.ts",
    "**File:** `src/a.ts`",
    "Updated file: src/a.ts",
    "filename: src\\a.ts",
    "- `src/a.ts` (updated)",
    "2. **src/a.ts** (new file):",
    "[src/a.ts](src/a.ts)",
    "#### 📄 `src/a.ts`",
    "**1. src/a.ts**",
    "> src/a.ts",
    "Create `src/a.ts`:",
    "New file `src/a.ts`",
    "**File: src/a.ts**",
    "src/a.ts",
  ];
  verifies(["U7"], "name their files on the line above", () => {
    for (const line of ABOVE) {
      expect([line, texts(`Sure.\n\n${line}\n\n${block("ts", "1")}\nDone.`)]).toEqual([line, [["src/a.ts", "1\n"]]]);
      expect([line, texts(`${line}\n${block("", "1")}`)]).toEqual([line, [["src/a.ts", "1\n"]]]);
    }
    for (const name of ["filesystem.ts", "create.ts", "file.ts", "path.ts", "newfile.ts"])
      expect(texts(`### ${name}\n${block("ts", "1")}`)).toEqual([[name, "1\n"]]);
    expect(texts(`__init__.py\n${block("python", "1")}\n### Makefile\n${block("make", "all:")}`)).toEqual([
      ["__init__.py", "1\n"],
      ["Makefile", "all:\n"],
    ]);
  });

  verifies(["U7"], "name their files in a comment on the first line", () => {
    const comments = [
      ["ts", "// src/a.ts"],
      ["", "// File: src/a.ts"],
      ["python", "# src/a.py"],
      ["html", "<!-- x.html -->"],
      ["css", "/* styles/main.css */"],
      ["sql", "-- schema.sql"],
      ["json", "// package.json"],
      ["md", "<!-- docs/a.md -->"],
      ["", "// filepath: src/a.ts"],
    ];
    for (const [info = "", comment = ""] of comments) {
      const { files } = readAnswer(block(info, `${comment}\n\ntext`));
      expect(files).toMatchObject([
        { path: comment.split(" ").at(comment.includes("-->") || comment.includes("*/") ? -2 : -1) },
      ]);
      expect(files[0]?.changes).toMatchObject([{ kind: "write", comment }]);
    }
  });

  verifies(["U7"], "name no file if a line only looks like a name", () => {
    const lines = [
      "Add this to `src/a.ts`:",
      "Here is the new `src/a.ts`:",
      "### Node.js",
      "**console.log**",
      "`Array.from`:",
      "### and/or",
      "**v1.2.3**",
      "### 2.0",
      "example.com/data.json",
      "https://example.com/a.ts",
      "### Usage",
      "File format",
      "Create the file:",
      "### 3 files",
      "### src/a\u001b[2J.ts",
      "### src/\u202ea.ts",
      "src/",
      "*.ts",
    ];
    for (const line of lines) expect([line, readAnswer(`${line}\n${block("", "1")}`).files]).toEqual([line, []]);
    const blocks = [
      ...[block("js", "// Node.js\n1"), block("js", "// eslint-disable-next-line\n1"), block("", "# README.md\ntext")],
      ...[
        block("sh", "#!/bin/sh\nls"),
        block("bash", "# src/app.py\npython src/app.py"),
        block("c", '#include "a.h"\n1'),
      ],
      ...[`### package.json\n${block("bash", "npm install")}`, `### src/a.ts\n${block("console", "$ node src/a.ts")}`],
    ];
    for (const each of blocks) expect([each, readAnswer(each).files]).toEqual([each, []]);
    expect(readAnswer(`Add this to \`src/a.ts\`:\n${block("ts", "1")}`).notes).toEqual([
      'The block after "Add this to `src/a.ts`:" may be a part of src/a.ts',
    ]);
    expect(readAnswer(blocks.at(-2) ?? "").notes).toEqual(["A block of bash is not the text of package.json"]);
  });
});

describe("an answer that can be understood in two ways", () => {
  verifies(["U7"], "is a problem: two names, two texts, two files in a block, a fence in a block", () => {
    expect(problemsOf(`### src/a.ts\n${block("ts", "// src/b.ts\n1")}`)).toContain("several names: src/a.ts, src/b.ts");
    expect(problemsOf(`### src/a.ts\n${block("ts src/b.ts", "1")}`)).toContain("several names");
    expect(texts(`### src/a.ts\n${block("ts", "// a.ts\n1")}`)).toEqual([["src/a.ts", "// a.ts\n1\n"]]);
    const two = `### src/a.ts\n${block("ts", "1")}\n### src/a.ts\n${block("ts", "2")}`;
    expect(problemsOf(two)).toContain("another text for src/a.ts");
    expect(texts(two.replace("\n2", "\n1"))).toEqual([["src/a.ts", "1\n"]]);
    expect(problemsOf(block("ts", "// src/a.ts\n1\n// src/b.ts\n2"))).toContain("several files");
    const nested = block("md README.md", `# A\n${block("sh", "ls")}\nmore`);
    expect(problemsOf(`${nested}\n${block("ts b.ts", "1")}`)).toContain("Where the block at line 1 ends is not clear");
    const search = "<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE";
    const twice = `### src/a.ts\n${block("ts", "1")}\nsrc/a.ts\n${block("", search)}`;
    expect(problemsOf(twice)).toBe("src/a.ts has a whole text and a change. Ask for one of them.");
    const patch = "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-1\n+2\n*** End Patch";
    expect(problemsOf(`### src/a.ts\n${block("ts", "1")}\n${block("", patch)}`)).toBe(
      "src/a.ts has a whole text and a change (line 5). Ask for one of them.",
    );
  });
});

describe("SEARCH/REPLACE blocks", () => {
  const SEARCH = "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE";
  const edits = (answer: string) => {
    const { files, problems } = readAnswer(answer);
    expect(problems).toEqual([]);
    return files.map(({ path, changes }) => [
      path,
      ...changes.map((change) => (change.kind === "edit" ? [change.edit.old, change.edit.new] : change.kind)),
    ]);
  };

  verifies(["U7"], "name their file above them, in their block or on its fence, or stand alone", () => {
    const one = [["src/a.ts", ["old\n", "new\n"]]];
    expect(edits(`src/a.ts\n${block("ts", SEARCH)}`)).toEqual(one);
    expect(edits(block("ts src/a.ts", SEARCH))).toEqual(one);
    expect(edits(block("", `src/a.ts\n${SEARCH}`))).toEqual(one);
    expect(edits(`Change it:\n\n**src/a.ts**\n${SEARCH}\nDone.`)).toEqual(one);
    expect(edits(`src/a.ts\n------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE\n`)).toEqual(one);
    expect(edits(block("", `src/a.ts\n${SEARCH}\n\n${SEARCH}\nb.ts\n${SEARCH}`))).toEqual([
      ["src/a.ts", ["old\n", "new\n"], ["old\n", "new\n"]],
      ["b.ts", ["old\n", "new\n"]],
    ]);
  });

  verifies(["U7"], "may have fences inside, and must be whole", () => {
    const fenced = `<<<<<<< SEARCH\n${block("sh", "a")}\n=======\n${block("sh", "b")}\n>>>>>>> REPLACE`;
    expect(edits(`README.md\n${block("md", fenced)}\n${block("ts c.ts", "1")}`)).toEqual([
      ["README.md", [`${block("sh", "a")}\n`, `${block("sh", "b")}\n`]],
      ["c.ts", "write"],
    ]);
    expect(problemsOf(block("ts", SEARCH))).toContain("names no file");
    expect(problemsOf("a.ts\n<<<<<<< SEARCH\nold\n=======\nnew\n")).toContain("line 2 has no end");
    expect(problemsOf(`a.ts\n${SEARCH.replace("=======", "=======\nx\n=======")}`)).toContain("one line with =======");
  });
});

describe("diffs", () => {
  const HUNK = "@@ -1,3 +1,3 @@ function x\n a\n-b\n+c\n\n d";
  const changes = (answer: string) => {
    const { files, problems } = readAnswer(answer);
    expect(problems).toEqual([]);
    return files.map(({ path, changes: [change] }) => [
      path,
      change?.kind === "patch" ? change.change.kind : undefined,
    ]);
  };

  verifies(["U7"], "name their files in their headers, on the fence or above", () => {
    expect(changes(block("diff", `--- a/src/a.ts\n+++ b/src/a.ts\n${HUNK}`))).toEqual([["src/a.ts", "update"]]);
    expect(changes(block("", `--- src/a.ts\t2024-01-01\n+++ src/a.ts\n${HUNK}`))).toEqual([["src/a.ts", "update"]]);
    const spoken = "--- src/a.ts (original)\n+++ src/a.ts (modified)\n a\n-b\n+c";
    expect(changes(block("diff", spoken))).toEqual([["src/a.ts", "update"]]);
    expect(changes(`### src/a.ts\n${block("diff", HUNK)}`)).toEqual([["src/a.ts", "update"]]);
    expect(changes(block("diff src/a.ts", " a\n-b\n+c"))).toEqual([["src/a.ts", "update"]]);
    const git = `diff --git a/x.sql b/x.sql\nindex 12ab..34cd 100644\n--- a/x.sql\n+++ b/x.sql\n@@ -1 +1 @@\n--- a comment\n+++ b\ndiff --git a/n.ts b/n.ts\nnew file mode 100644\n--- /dev/null\n+++ b/n.ts\n@@ -0,0 +1 @@\n+1`;
    expect(changes(block("diff", git))).toEqual([
      ["x.sql", "update"],
      ["n.ts", "add"],
    ]);
    const envelope = "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-b\n+c\n*** End Patch";
    expect(changes(block("", envelope))).toEqual([["src/a.ts", "update"]]);
  });

  verifies(["U7"], "that delete or move files, name none, or are broken are a problem", () => {
    for (const [text, problem] of [
      [HUNK, "names no file"],
      [`--- a/x.ts\n+++ /dev/null\n${HUNK}`, "deletes or moves x.ts"],
      [`--- a/x.ts\n+++ b/y.ts\n${HUNK}`, "deletes or moves x.ts"],
      ["diff --git a/x b/y\nrename from x\nrename to y\n", "deletes or moves x"],
      ["--- a/x.ts\n+++ b/x.ts\n@@\nno sign", "Line 4 of the diff"],
      ["*** Begin Patch\n*** Delete File: a.ts\n*** End Patch", "deletes or moves a.ts"],
    ])
      expect(problemsOf(block("diff", text ?? ""))).toContain(problem);
  });
});
