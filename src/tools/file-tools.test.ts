import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, open, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { buildChildPrograms } from "../../test/support/child-programs.js";
import { verifies } from "../../test/verifies.js";
import type { Tool, ToolOutcome } from "../engine/ports.js";
import { resultText } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";
import { createFileTools } from "./file-tools.js";
import { Workspace } from "./workspace.js";

let base: string;
let root: string;
let tools: readonly Tool[];

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "file-tools-")));
  root = join(base, "ws");
  await mkdir(root);
  await mkdir(join(base, "out"));
  await writeFile(join(base, "out/secret.txt"), "SECRET\n");
  // Without ripgrep: what the engines have in common is tested with the searcher.
  tools = createFileTools(await Workspace.open(root), { ripgrep: false });
});

afterEach(async () => {
  await rm(base, { recursive: true, force: true });
});

async function put(files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

async function outcome(name: string, args: JsonObject, signal = new AbortController().signal): Promise<ToolOutcome> {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool.run(args, { signal, progress() {} });
}

async function run(name: string, args: JsonObject): Promise<string> {
  const result = await outcome(name, args);
  expect(result.status, resultText(result.content)).toBe("ok");
  return resultText(result.content);
}

async function refused(name: string, args: JsonObject): Promise<string> {
  const result = await outcome(name, args);
  expect(result.status).toBe("error");
  return resultText(result.content);
}

describe("[T1] the tools as a set", () => {
  it("are small, safe where they can be, and sorted into sets", () => {
    expect(tools.map((tool) => [tool.name, tool.set, tool.concurrencySafe, tool.mutating])).toEqual([
      ["read", "read", true, false],
      ["ls", "read", true, false],
      ["glob", "read", true, false],
      ["grep", "read", true, false],
      ["write", "edit", false, true],
    ]);
    for (const { name, description, inputSchema } of tools) {
      const bytes = Buffer.byteLength(JSON.stringify({ name, description, inputSchema }));
      expect(bytes, name).toBeLessThanOrEqual(name === "grep" ? 750 : 450);
    }
  });

  verifies(["T3"], "refuse what leads outside, each of them", async () => {
    await symlink(join(base, "out"), join(root, "link"));
    for (const path of ["../out", join(base, "out"), "link"]) {
      expect(await refused("ls", { path })).toMatch(/outside the workspace/);
      expect(await refused("glob", { pattern: "*", path })).toMatch(/outside the workspace/);
      expect(await refused("grep", { pattern: "S", path })).toMatch(/outside the workspace/);
      expect(await refused("read", { path: `${path}/secret.txt` })).toMatch(/outside the workspace/);
      expect(await refused("write", { path: `${path}/new.txt`, content: "x" })).toMatch(/outside the workspace/);
    }
    expect(await run("grep", { pattern: "SECRET" })).toBe("No matches.");
    expect(await run("glob", { pattern: "**/*.txt" })).toBe("No file matches **/*.txt.");
  });

  it("say what is wrong with arguments that were not checked before", async () => {
    expect(await refused("read", {})).toMatch(/"path" must be a string/);
    expect(await refused("read", { path: "a", offset: 0 })).toMatch(/"path"|"offset"|does not exist/);
    expect(await refused("grep", { pattern: "a", mode: "lines" })).toMatch(/content, files, count/);
    expect(await refused("grep", { pattern: "" })).toMatch(/must not be empty/);
  });
});

describe("[T4 T9] read", () => {
  it("numbers lines", async () => {
    await put({ "a.txt": "one\ntwo\n\nfour" });
    expect(await run("read", { path: "a.txt" })).toBe("1\tone\n2\ttwo\n3\t\n4\tfour");
    const { details } = await outcome("read", { path: "a.txt" });
    expect(details).toMatchObject({ path: "a.txt", first_line: 1, lines: 4, total_lines: 4 });
  });

  verifies(["T4", "T9"], "shows a part and says how to continue", async () => {
    await put({ "a.txt": Array.from({ length: 10 }, (_, i) => `line ${i + 1}`).join("\n") });
    expect(await run("read", { path: "a.txt", offset: 4, limit: 2 })).toBe(
      "4\tline 4\n5\tline 5\n[Lines 4-5 of 10. Continue with offset 6.]",
    );
    expect(await run("read", { path: "a.txt", offset: 9 })).toBe("9\tline 9\n10\tline 10");
    expect(await refused("read", { path: "a.txt", offset: 11 })).toBe(
      "a.txt has only 10 lines; offset 11 is past its end.",
    );
  });

  verifies(["T4", "T9"], "caps lines, length of lines and the whole", async () => {
    await put({
      "long.txt": "x\n".repeat(5000),
      "wide.txt": `${"w".repeat(5000)}\nshort\n`,
      "heavy.txt": `${"h".repeat(1000)}\n`.repeat(500),
    });
    const long = await run("read", { path: "long.txt" });
    expect(long.split("\n").slice(-2)).toEqual(["2000\tx", "[Lines 1-2000 of 5,000. Continue with offset 2001.]"]);
    const wide = await run("read", { path: "wide.txt" });
    expect(wide).toMatch(/^1\tw{2000}…\n2\tshort\n\[1 line cut at 2000 characters\./);
    const heavy = await run("read", { path: "heavy.txt" });
    expect(heavy.length).toBeLessThan(55_000);
    expect(heavy).toMatch(/\[Lines 1-49 of 500\. Continue with offset 50\.\]$/);
    expect(await run("read", { path: "heavy.txt", offset: 50, limit: 1 })).toMatch(/^50\th+\n\[Lines 50-50 of 500/);
  });

  it("knows line endings, byte order marks and encodings", async () => {
    await put({
      "dos.txt": "\ufeffone\r\ntwo\r\n",
      "wide.txt": Buffer.from("\ufeffeins\r\nzwei ü\r\n", "utf16le"),
      "latin.txt": Buffer.from("caf\xe9\n", "latin1"),
    });
    expect(await run("read", { path: "dos.txt" })).toBe("1\tone\n2\ttwo");
    expect(await run("read", { path: "wide.txt" })).toBe("1\teins\n2\tzwei ü");
    expect(await run("read", { path: "latin.txt" })).toBe("1\tcafé");
  });

  verifies(["T4"], "says what is not text", async () => {
    await put({ "a.bin": Buffer.from([1, 2, 0, 3]), empty: "" });
    expect(await refused("read", { path: "a.bin" })).toMatch(/a\.bin is a binary file of 4 B/);
    expect(await run("read", { path: "empty" })).toBe("empty is empty.");
    expect(await refused("read", { path: "." })).toBe(". is a folder. Use ls to see what is in it.");
    expect(await refused("read", { path: "emtpy" })).toBe("emtpy does not exist. Did you mean one of these?\nempty");
  });

  verifies(["T4"], "shows images, whatever they are called, up to a size", async () => {
    const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(100)]);
    await put({
      "picture.dat": png,
      "big.png": Buffer.concat([png, Buffer.alloc(4_000_000)]),
      "anim.gif": Buffer.from("GIF89a\0\0"),
    });
    const { content, details } = await outcome("read", { path: "picture.dat" });
    expect(content[1]).toEqual({ type: "image", media_type: "image/png", data: png.toString("base64") });
    expect(details).toMatchObject({ media_type: "image/png", size: 108 });
    expect((await outcome("read", { path: "anim.gif" })).content[1]).toMatchObject({ media_type: "image/gif" });
    expect(await refused("read", { path: "big.png" })).toMatch(/image of 4\.0 MB; at most 3\.8 MB/);
  });

  it("shows notebooks as cells", async () => {
    const notebook = {
      cells: [
        { cell_type: "markdown", source: ["# Title\n", "text"] },
        {
          cell_type: "code",
          source: "print(1)",
          outputs: [
            { output_type: "stream", text: ["1\n"] },
            { output_type: "display_data", data: { "image/png": "aGk=\n", "text/plain": "<Figure>" } },
            { output_type: "error", ename: "E", evalue: "v", traceback: ["\u001b[31mE\u001b[0m: v"] },
          ],
        },
      ],
    };
    await put({ "n.ipynb": JSON.stringify(notebook), "broken.ipynb": "{" });
    const { content } = await outcome("read", { path: "n.ipynb" });
    const text = resultText(content).replaceAll(/^\d+\t/gm, "");
    expect(text).toBe(
      "[cell 1: markdown]\n# Title\ntext\n\n[cell 2: code]\nprint(1)\n[output]\n1\n[image/png: picture 1 below]\nE: v",
    );
    expect(content[1]).toEqual({ type: "image", media_type: "image/png", data: "aGk=" });
    expect(await run("read", { path: "broken.ipynb" })).toBe("1\t{");
  });

  it("streams a large file, also far in and with endless lines", async () => {
    const line = `${"0123456789".repeat(10)}\n`;
    await put({ "large.txt": `${line.repeat(60_000)}last`, "one-line.txt": "y".repeat(6_000_000) });
    expect(await run("read", { path: "large.txt", offset: 59_999, limit: 2 })).toMatch(
      /^59999\t0123.*\n60000\t0123.*\n\[Lines 59999-60000 of a file of 6\.1 MB\. Continue with offset 60001\.\]$/,
    );
    expect(await run("read", { path: "large.txt", offset: 60_001 })).toBe("60001\tlast");
    expect(await refused("read", { path: "large.txt", offset: 60_002 })).toMatch(/only 60,001 lines/);
    expect(await run("read", { path: "one-line.txt" })).toMatch(/^1\ty{2000}…\n\[1 line cut/);
  });

  it("does not take a huge file into memory", async () => {
    const line = `${"z".repeat(99)}\n`;
    const file = await open(join(root, "huge"), "w");
    for (let i = 0; i < 300; i++) await file.write(line.repeat(10_000));
    await file.close();
    await put({ small: line });
    // In a process of its own: this one has the memory of other tests.
    const programs = await buildChildPrograms(import.meta.url, "read-file");
    onTestFinished(() => programs.discard());
    const read = async (name: string, offset: number): Promise<{ text: string; mostBytes: number }> => {
      const { code, out, err } = await programs.start("read-file", root, name, `${offset}`).end;
      expect({ code, err }).toEqual({ code: 0, err: "" });
      return JSON.parse(out);
    };
    const [small, first, last] = [await read("small", 1), await read("huge", 1), await read("huge", 2_999_999)];
    expect(first.text).toMatch(/of a file of 300\.0 MB/);
    expect(last.text).toMatch(/^2999999\tz/);
    const more = Math.max(first.mostBytes, last.mostBytes) - small.mostBytes;
    expect(more).toBeLessThan(150 * 1024 * 1024);
  }, 60_000);

  it("can be cancelled", async () => {
    await put({ "large.txt": "x\n".repeat(3_000_000) });
    expect((await outcome("read", { path: "large.txt", offset: 2_900_000 }, AbortSignal.abort())).status).toBe(
      "cancelled",
    );
  });
});

describe("[T1 T9] ls", () => {
  it("lists folders first, links with their target, and odd names safely", async () => {
    await put({
      "b.txt": "",
      "a.txt": "",
      "z/x": "",
      "y/x": "",
      ".hidden": "",
      "with\nnewline": "",
      "\u202egnp.exe": "",
    });
    await symlink("a.txt", join(root, "link"));
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect(await run("ls", {})).toBe(
      [
        "y/",
        "z/",
        ".hidden",
        "a.txt",
        "b.txt",
        "link -> a.txt",
        "pipe (not a regular file)",
        '"with\\nnewline"',
        '"\\u202egnp.exe"',
      ].join("\n"),
    );
  });

  it("goes deeper when asked, but not into what is ignored", async () => {
    await put({ ".gitignore": "out/", "src/a/b/c": "", "src/d": "", "out/x": "", ".git/config": "" });
    expect(await run("ls", { depth: 3 })).toBe(
      [".git/ (ignored)", "out/ (ignored)", "src/", "  a/", "    b/", "  d", ".gitignore"].join("\n"),
    );
    expect(await run("ls", { path: "src", depth: 1 })).toBe("a/\nd");
  });

  it("says what it is not for", async () => {
    await put({ "a.txt": "" });
    expect(await refused("ls", { path: "a.txt" })).toMatch(/is a file, not a folder\. Use read/);
    expect(await refused("ls", { path: "nowhere" })).toMatch(/does not exist/);
    await mkdir(join(root, "void"));
    expect(await run("ls", { path: "void" })).toBe("void is empty.");
  });

  verifies(["T4", "T9"], "keeps the first of very many", async () => {
    await mkdir(join(root, "many/zz"), { recursive: true });
    for (let i = 3000; i > 0; i--) await writeFile(join(root, `many/file-${String(i).padStart(4, "0")}.txt`), "");
    const { content, details } = await outcome("ls", { path: "many" });
    const lines = resultText(content).split("\n");
    expect(lines.slice(0, 3)).toEqual(["zz/", "file-0001.txt", "file-0002.txt"]);
    expect(lines.slice(-2)).toEqual([
      "file-0499.txt",
      "[2,501 more not shown. Use glob with a pattern to find what you need.]",
    ]);
    expect(details).toMatchObject({ entries: 500, left_out: 2501 });
  });

  it("shares the room among levels", async () => {
    await put(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`d${String(i).padStart(2, "0")}/${"f"}`, ""])));
    for (let i = 0; i < 600; i++) await writeFile(join(root, `d00/f${i}`), "");
    const text = await run("ls", { depth: 2 });
    expect(text).toMatch(/^d00\/\n {2}f\n/);
    expect(text).toContain("\nd39/");
    expect(text).toMatch(/more not shown/);
  });
});

describe("[T1 T9] glob", () => {
  beforeEach(async () => {
    await put({
      ".gitignore": "dist/",
      "index.ts": "",
      "src/a.ts": "",
      "src/b.tsx": "",
      "src/deep/c.ts": "",
      "src/[id].ts": "",
      "dist/a.ts": "",
      "-x.ts": "",
    });
  });

  it("matches names at any depth and paths from the start", async () => {
    expect(await run("glob", { pattern: "*.ts" })).toBe("-x.ts\nindex.ts\nsrc/[id].ts\nsrc/a.ts\nsrc/deep/c.ts");
    expect(await run("glob", { pattern: "/*.ts" })).toBe("-x.ts\nindex.ts");
    expect(await run("glob", { pattern: "./src/*.{ts,tsx}" })).toBe("src/[id].ts\nsrc/a.ts\nsrc/b.tsx");
    expect(await run("glob", { pattern: "src/" })).toBe("src/[id].ts\nsrc/a.ts\nsrc/b.tsx\nsrc/deep/c.ts");
    expect(await run("glob", { pattern: "c.ts", path: "src" })).toBe("src/deep/c.ts");
    expect(await run("glob", { pattern: join(root, "src/**/c.*") })).toBe("src/deep/c.ts");
    expect(await run("glob", { pattern: "src/\\[id\\].ts" })).toBe("src/[id].ts");
    await symlink("src", join(root, "alias"));
    expect(await run("glob", { pattern: "alias/a.*" })).toBe("src/a.ts");
    expect(await refused("glob", { pattern: "*", path: "index.ts" })).toMatch(/is a file\. Give a folder/);
  });

  it("looks into an ignored folder only when it is named", async () => {
    expect(await run("glob", { pattern: "**/a.ts" })).toBe("src/a.ts");
    expect(await run("glob", { pattern: "dist/*.ts" })).toBe("dist/a.ts");
  });

  verifies(["T4", "T9"], "says when nothing matches, when a pattern is broken, and what it left out", async () => {
    expect(await run("glob", { pattern: "*.py" })).toMatch(/^No file matches/);
    expect(await refused("glob", { pattern: "{a" })).toMatch(/not a well-formed pattern/);
    expect(await refused("glob", { pattern: "../*" })).toMatch(/downwards only/);
    await put(Object.fromEntries(Array.from({ length: 510 }, (_, i) => [`many/${i}.md`, ""])));
    const result = await outcome("glob", { pattern: "*.md" });
    expect(resultText(result.content)).toMatch(/\n\[10 more files not shown\. Use a narrower pattern or path\.\]$/);
    expect(result.details).toMatchObject({ files: 510, left_out: 10 });
  });
});

describe("[T4 T9] grep", () => {
  beforeEach(async () => {
    await put({
      "a.ts": "one\ntwo\nthree\nfour\nfive\ntwo\n",
      "b/c.ts": "two here\n",
      "b/d.md": "Two\n",
    });
  });

  it("shows matching lines under their file", async () => {
    expect(await run("grep", { pattern: "two" })).toBe("a.ts\n2:two\n6:two\n\nb/c.ts\n1:two here");
    expect(await run("grep", { pattern: "two", context: 1 })).toBe(
      "a.ts\n1-one\n2:two\n3-three\n--\n5-five\n6:two\n\nb/c.ts\n1:two here",
    );
    expect(await run("grep", { pattern: "two", path: "b" })).toBe("b/c.ts\n1:two here");
    expect(await run("grep", { pattern: "two", path: "a.ts" })).toBe("a.ts\n2:two\n6:two");
    expect(await run("grep", { pattern: "two", glob: "*.md", ignore_case: true })).toBe("b/d.md\n1:Two");
    expect(await run("grep", { pattern: "two\\nthree", multiline: true })).toBe("a.ts\n2:two\n3:three");
  });

  it("lists files and counts", async () => {
    expect(await run("grep", { pattern: "two", mode: "files" })).toBe("a.ts\nb/c.ts");
    expect(await run("grep", { pattern: "two", mode: "count" })).toBe("a.ts:2\nb/c.ts:1");
    expect((await outcome("grep", { pattern: "two", mode: "count" })).details).toMatchObject({ files: 2, matches: 3 });
  });

  verifies(["T4", "T9"], "says what it left out", async () => {
    expect(await run("grep", { pattern: "two", limit: 1 })).toBe(
      "a.ts\n2:two\n[The first 1 of 3 matching lines in 2 files. Narrow the pattern, path or glob, or raise limit.]",
    );
    expect(await run("grep", { pattern: "two", limit: 1, mode: "files" })).toMatch(
      /^a\.ts\n\[The first 1 of 2 files\./,
    );
    await put({ "big.txt": `${"hit ".repeat(90)}\n`.repeat(300) });
    const text = await run("grep", { pattern: "hit", limit: 300 });
    expect(text.length).toBeLessThan(51_000);
    expect(text).toMatch(/\[The first \d+ of 300 matching lines in 1 file\./);
    await put({ "huge.txt": "hit\n".repeat(20_001) });
    expect(await run("grep", { pattern: "^hit$" })).toMatch(/\[The first 200 of more than 20,000 matching lines\./);
  });

  it("refuses what cannot be searched for", async () => {
    expect(await refused("grep", { pattern: "(" })).toMatch(/not a valid regular expression/);
    expect(await refused("grep", { pattern: "(?=x)" })).toMatch(/Look-around/);
    expect(await refused("grep", { pattern: "a", glob: "[" })).toMatch(/not a well-formed glob/);
    await put({ "x.bin": Buffer.from("two\0") });
    expect(await refused("grep", { pattern: "two", path: "x.bin" })).toMatch(/binary file/);
    expect(await run("grep", { pattern: "nowhere" })).toBe("No matches.");
  });
});

describe("[T1 T5] write", () => {
  it("creates with folders, tells lines, and shows the difference", async () => {
    const created = await outcome("write", { path: "new/dir/a.txt", content: "one\ntwo\n" });
    expect(resultText(created.content)).toBe("Created new/dir/a.txt: 2 lines.");
    expect(created.details).toMatchObject({ path: "new/dir/a.txt", created: true, added: 2, removed: 0 });
    const updated = await outcome("write", { path: "new/dir/a.txt", content: "one\n2\n" });
    expect(resultText(updated.content)).toBe("Updated new/dir/a.txt: +1 -1 lines.");
    expect(updated.details?.diff).toBe("@@ -1,2 +1,2 @@\n one\n-two\n+2");
    expect(await run("write", { path: "new/dir/a.txt", content: "one\n2\n" })).toBe(
      "new/dir/a.txt already has this content.",
    );
  });

  verifies(["T5"], "requires that an existing file was read and has not changed since", async () => {
    await put({ "a.txt": "old\n" });
    expect(await refused("write", { path: "a.txt", content: "new\n" })).toMatch(
      /has not been read in this session.*Read it first/,
    );
    await run("read", { path: "a.txt" });
    await put({ "a.txt": "changed by someone\n" });
    expect(await refused("write", { path: "a.txt", content: "new\n" })).toMatch(
      /has changed since it was read.*Read it again/,
    );
    await run("read", { path: "a.txt" });
    await run("write", { path: "a.txt", content: "new\n" });
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("new\n");
  });

  it("counts a streamed file as read, until it changes", async () => {
    await put({ "large.txt": "x\n".repeat(3_000_000) });
    await run("read", { path: "large.txt", limit: 1 });
    await run("write", { path: "large.txt", content: "small\n" });
    await put({ "large.txt": "y\n".repeat(3_000_000) });
    await run("read", { path: "large.txt", limit: 1 });
    await put({ "large.txt": "z\n".repeat(3_000_001) });
    expect(await refused("write", { path: "large.txt", content: "" })).toMatch(/has changed/);
  });

  it("does not begin when it is cancelled already", async () => {
    const { status } = await outcome("write", { path: "a.txt", content: "x" }, AbortSignal.abort());
    expect(status).toBe("cancelled");
    expect(await run("ls", {})).toBe(". is empty.");
  });

  verifies(["T5"], "keeps line endings", async () => {
    await put({ "dos.txt": "a\r\nb\r\n" });
    await run("read", { path: "dos.txt" });
    const { details } = await outcome("write", { path: "dos.txt", content: "a\nc\n" });
    expect(await readFile(join(root, "dos.txt"), "utf8")).toBe("a\r\nc\r\n");
    expect(details).toMatchObject({ added: 1, removed: 1 });
  });
});
