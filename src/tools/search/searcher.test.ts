import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sample, times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import { Workspace } from "../workspace.js";
import { findRipgrep } from "./find-ripgrep.js";
import { PatternError } from "./rust-regex.js";
import type { SearchRequest } from "./search-request.js";
import { Searcher } from "./searcher.js";

/** Lists where systems put programs; tests do not read the environment. */
const USUAL_PATH = ["/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin"].join(":");

let program: string | undefined;
let base: string;
let root: string;

beforeAll(async () => {
  program = await findRipgrep({ path: USUAL_PATH });
});

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "search-")));
  root = join(base, "ws");
  await mkdir(root);
});

afterEach(async () => {
  await rm(base, { recursive: true, force: true });
});

type Layout = Readonly<Record<string, string | Buffer>>;

async function build(folder: string, layout: Layout): Promise<void> {
  for (const [path, content] of Object.entries(layout)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

async function engines(): Promise<Searcher[]> {
  const workspace = await Workspace.open(root);
  const builtIn = new Searcher(workspace, { ripgrep: false });
  return program === undefined ? [builtIn] : [builtIn, new Searcher(workspace, { ripgrep: program })];
}

const never = new AbortController().signal;

/** The files that both engines see. */
async function files(path = ".", label = path): Promise<readonly string[]> {
  const lists: string[][] = [];
  for (const engine of await engines()) {
    const { files: found, total } = await engine.files(path, { glob: "**", limit: 10_000 }, never);
    expect(total).toBe(found.length);
    lists.push([...found]);
  }
  for (const list of lists) expect(list, label).toEqual(lists[0]);
  return lists[0] ?? [];
}

/** Tells what both engines find, in short. */
async function search(pattern: string, options: Partial<SearchRequest> & { path?: string } = {}): Promise<unknown> {
  const { path = ".", ...rest } = options;
  const request: SearchRequest = {
    pattern,
    mode: "content",
    ignoreCase: false,
    multiline: false,
    context: 0,
    limit: 100,
    ...rest,
  };
  const results: unknown[] = [];
  for (const engine of await engines()) {
    try {
      const { files: found, totalCount, totalFiles, isBinary } = await engine.search(path, request, never);
      results.push({ found: found.map(short), totalCount, totalFiles, ...(isBinary ? { isBinary } : {}) });
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      results.push("refused");
    }
  }
  for (const result of results) expect(result, pattern).toEqual(results[0]);
  return results[0];
}

function short(file: {
  path: string;
  count: number;
  lines: readonly { number: number; text: string; isMatch: boolean }[];
}) {
  return [file.path, file.count, ...file.lines.map((line) => `${line.number}${line.isMatch ? ":" : "-"}${line.text}`)];
}

describe("which files are searched, with and without ripgrep", () => {
  it("shows what only the user's own settings of git leave out", async () => {
    execFileSync("git", ["init", "-q", root]);
    await build(root, { ".git/info/exclude": "mine.txt\n", ".gitignore": "built.txt\n" });
    await build(root, { "mine.txt": "needle\n", "built.txt": "needle\n" });
    expect(await files()).toEqual([".gitignore", "mine.txt"]);
    expect(await search("needle")).toMatchObject({ totalFiles: 1, totalCount: 1 });
  });

  it("obeys nested ignore files, negation, anchors and folders", async () => {
    await build(root, {
      ".gitignore": "*.log\n!keep.log\n/build\nnode_modules/\ndocs/**/draft.md\n# comment\n\\#odd\ntrailing   \n",
      "a.txt": "",
      "a.log": "",
      "keep.log": "",
      "build/x": "",
      "sub/build/x": "",
      "node_modules/m/index.js": "",
      "sub/node_modules/m/index.js": "",
      "docs/draft.md": "",
      "docs/a/b/draft.md": "",
      "docs/a/final.md": "",
      "#odd": "",
      trailing: "",
      "sub/.gitignore": "!a.log\n*.txt\n/only-here\n",
      "sub/a.log": "",
      "sub/b.txt": "",
      "sub/only-here": "",
      "sub/deep/only-here": "",
      "sub/deep/c.txt": "",
      "sub/deep/.gitignore": "!c.txt",
    });
    expect(await files()).toEqual([
      ".gitignore",
      "a.txt",
      "docs/a/final.md",
      "keep.log",
      "sub/.gitignore",
      "sub/a.log",
      "sub/build/x",
      "sub/deep/.gitignore",
      "sub/deep/c.txt",
      "sub/deep/only-here",
    ]);
    expect(await files("sub")).toEqual([
      ".gitignore",
      "a.log",
      "build/x",
      "deep/.gitignore",
      "deep/c.txt",
      "deep/only-here",
    ]);
    expect(await files("node_modules")).toEqual(["m/index.js"]);
  });

  it("puts .rgignore before .ignore before .gitignore", async () => {
    await build(root, {
      ".gitignore": "one\ntwo\nthree",
      ".ignore": "!one\n!two\nfour",
      ".rgignore": "two\n!four",
      one: "",
      two: "",
      three: "",
      four: "",
      "sub/.gitignore": "!three\none",
      "sub/one": "",
      "sub/three": "",
    });
    const seen = (await files()).filter((path) => !path.includes("ignore"));
    expect(seen).toEqual(["four", "one", "sub/one", "sub/three"]);
  });

  it("sees hidden files, but no files of version control and no links", async () => {
    await build(root, { ".hidden/x": "", ".git/config": "", "sub/.git": "gitdir: elsewhere", ".hg/store": "", a: "" });
    await build(base, { "out/secret": "SECRET" });
    await symlink(join(base, "out"), join(root, "link"));
    await symlink(join(base, "out/secret"), join(root, "file-link"));
    await symlink("a", join(root, "inside-link"));
    expect(await files()).toEqual([".hidden/x", "a"]);
    expect(await search("SECRET")).toMatchObject({ totalFiles: 0 });
  });

  it("takes the repository's ignore files when the workspace is a part of one, and none from further up", async () => {
    await build(base, { ".gitignore": "*", ".ignore": "*", "other/.gitignore": "*" });
    await build(root, { ".gitignore": "ignored", ignored: "", "sub/ignored": "", "sub/kept": "" });
    expect(await files()).toEqual([".gitignore", "sub/kept"]);
    expect(await files("sub")).toEqual(["kept"]);
    const repository = join(base, "repo");
    await build(repository, {
      ".gitignore": "dist\n/part/top-only",
      ".git/HEAD": "",
      "part/dist/x": "",
      "part/a": "",
      "part/top-only": "",
    });
    root = join(repository, "part");
    await rm(join(base, ".ignore"));
    expect(await files()).toEqual(["a"]);
  });

  it("stops at the folder of a repository inside", async () => {
    await build(root, {
      ".git/HEAD": "",
      ".gitignore": "x",
      ".ignore": "y",
      "inner/.git/HEAD": "",
      "inner/x": "",
      "inner/y": "",
      "inner/d/x": "",
    });
    expect(await files()).toEqual([".gitignore", ".ignore", "inner/d/x", "inner/x"]);
    expect(await files("inner/d")).toEqual(["x"]);
  });

  it("agrees on odd patterns", async () => {
    const names = "a b ab a.b [a] {a,b} * A a-b !a x/a x/b x/y/a x/y/ab y/x/a - a_b".split(" ");
    const patterns =
      String.raw`[ab] [!a]* [^a] {a,b} \[a\] \* a\  ? ?? x/* x/** **/a x/**/a **/y/** /x x/ y \!a [a-c] [b-a] [ {a a**
      **a */a /*/a a?b []a] [a-] !x/a ** /** x/**/ \ a\b [!/] x**/a {a,b}/ {}`.split(/\s+/);
    patterns.push("*\n!a\n!x\n!x/a", "a\\ ", "a ", " a", "x/y\n!x/y/a", "*\r\n!ab\r\n");
    for (const pattern of sample(patterns)) {
      await rm(root, { recursive: true });
      await build(root, { ...Object.fromEntries(names.map((name) => [name, ""])), ".gitignore": pattern });
      await files(".", JSON.stringify(pattern));
    }
  });

  verifies(["T4"], "agrees on random trees", async () => {
    const random = seeded(7);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const parts = ["a", "b", "c", "*", "?", "**", "[ab]", "a*", "*c", "{a,b}"];
    for (let round = 0; round < times(2, 25); round++) {
      await rm(root, { recursive: true });
      await mkdir(root);
      const folders = ["", "a/", "b/", "a/b/", "c/a/", "c/a/b/", "a/b/c/a/"];
      for (const folder of folders) {
        await build(root, { [`${folder}f-a`]: "", [`${folder}f-b.c`]: "", [`${folder}x`]: "" });
        // Outside of a repository ripgrep's versions disagree about repositories inside.
        const isRepository = round % 2 === 0 && (folder === "" || random() < 0.2);
        if (isRepository) await build(root, { [`${folder}.git/HEAD`]: "" });
        if (random() < 0.5) continue;
        const lines = Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
          const depth = 1 + Math.floor(random() * 3);
          const glob = Array.from({ length: depth }, () => pick([...parts, "f-a", "x", "f-*"])).join("/");
          return `${pick(["", "", "!"])}${pick(["", "", "/"])}${glob}${pick(["", "", "/", "/**"])}`;
        });
        await build(root, { [`${folder}${pick([".gitignore", ".ignore", ".rgignore"])}`]: lines.join("\n") });
      }
      await files();
      await files("a");
    }
  });
});

describe("[T4] what is found, with and without ripgrep", () => {
  beforeEach(async () => {
    await build(root, {
      "a/one.ts": "alpha\nBeta\ngamma alpha\n\n  delta_1\nlast without end",
      "a/two.ts": "nothing here\n",
      "b.txt": "alpha\r\nBETA\r\ngamma\r\n",
      "bom.txt": "\ufeffalpha first\nsecond\n",
      "wide.txt": Buffer.from("\ufeffalpha wide\nzweite Zeile\n", "utf16le"),
      "latin.txt": Buffer.from("caf\xe9 alpha\n", "latin1"),
      "zero.bin": Buffer.from("alpha\nalpha\0alpha\n"),
      "late-zero.bin": Buffer.concat([Buffer.from(`alpha\n${"zzzzzzz\n".repeat(10_000)}`), Buffer.from("\0")]),
      "ünï cöde/naïve.md": "αβγ alpha ΑΒΓ\nstraße STRASSE\n",
      "-dash": "alpha\n",
      empty: "",
      "minified.js": `${"x".repeat(600)}alpha${"y".repeat(600)}\nshort alpha\n${"ü".repeat(300)}alpha${"🦬".repeat(200)}\n`,
      "blocks.txt": "begin\n  a\nend\nother\nbegin\n  b\nend\nbegin\nend\n",
    });
  });

  verifies(
    ["T4"],
    "the same for every kind of pattern",
    async () => {
      const patterns =
        String.raw`alpha ^alpha alpha$ ^alpha$ ^$ a.*a [A-Z]+ \bgamma\b \w+_\d \s{2} (alpha|BETA) (?i)beta (?P<x>al)pha
      (?<x>al)pha \p{Greek}+ \p{greek} \P{L}a \p{Lu} \pL{5} [[:upper:]]{4} [[:^alpha:]_]a stra.e caf é x* alpha\ ( ) [ a{2 foo{ { } a{1,2}
      * +a (?=a) (?!a) (?<=a) \1 \x61lpha \x{61}lpha \u0061 [a-z&&[^aeiou]]{3} [a-z--b]+ [\w--a]+ \d \D+ \S+ \W al\B gamma$ (?s)a.c
      (?-u)\w+ \Q \y a\-b a\/b l\"a []a] [a\]] [-a] [a-] a| | (?:) \t|a alpha\nBeta [^x] \. al[p]ha\b (a(l(p))) é|ü [é-ü] 🦬+ .{500} y{10}$
      a+? a?? [\d\s] [^\w] [a&b] [!-/] [(){}|] a{0} {2}`.split(/\s+/);
      const all = [...patterns, "", "gamma alpha", "a  ", "al\tpha"];
      for (const pattern of sample(all)) await search(pattern);
      for (const pattern of sample(all, 9)) {
        await search(pattern, { mode: "count", ignoreCase: true });
        await search(pattern, { path: "b.txt", context: 2 });
      }
    },
    120_000,
  );

  it("the same across lines", async () => {
    const patterns = String.raw`begin.*?end begin\n end\nbegin ^end$ alpha\r\n a\s+end \n\n [^b]end begin[^e]*`.split(
      " ",
    );
    for (const pattern of sample(patterns)) {
      await search(pattern, { multiline: true });
      await search(pattern, { multiline: true, context: 1, path: "blocks.txt" });
      await search(pattern, { multiline: true, mode: "count" });
      await search(pattern, { multiline: true, mode: "count", path: "blocks.txt" });
      await search(pattern, { multiline: true, mode: "files", path: "blocks.txt" });
    }
    for (const pattern of ["x*", "^", "$"]) await search(pattern, { multiline: true, path: "a/one.ts" });
  });

  it("counts the matches of one file as it counts those of a folder", async () => {
    await build(root, { "one/pairs.txt": "a a\na a\n\nb\na\n" });
    const count = (pattern: string, options: Partial<SearchRequest>) =>
      Promise.all(["one", "one/pairs.txt"].map((path) => search(pattern, { mode: "count", path, ...options })));
    for (const [pattern, multiline, expected] of [
      ["a", false, 3],
      ["a", true, 5],
      ["a\\na", true, 1],
      ["x*", true, 13],
      ["^", true, 5],
      ["$", true, 5],
    ] as const) {
      const results = (await count(pattern, { multiline })) as { totalCount: number }[];
      expect(
        results.map(({ totalCount }) => totalCount),
        pattern,
      ).toEqual([expected, expected]);
    }
  });

  it("counts all lines of one file, however many", async () => {
    await build(root, { "long.txt": "hit\n".repeat(50_000) });
    for (const multiline of [false, true]) {
      expect(await search("hit", { mode: "count", path: "long.txt", multiline })).toMatchObject({ totalCount: 50_000 });
    }
  });

  it("is exactly this", async () => {
    expect(await search("alpha", { glob: "**/*.ts", context: 1 })).toEqual({
      found: [["a/one.ts", 2, "1:alpha", "2-Beta", "3:gamma alpha", "4-"]],
      totalCount: 2,
      totalFiles: 1,
    });
    expect(await search("begin.*?end", { multiline: true, path: "blocks.txt" })).toEqual({
      found: [["", 8, "1:begin", "2:  a", "3:end", "5:begin", "6:  b", "7:end", "8:begin", "9:end"]],
      totalCount: 8,
      totalFiles: 1,
    });
    expect(await search("alpha", { path: "zero.bin" })).toMatchObject({ isBinary: true, totalFiles: 0 });
    expect(await search("alpha", { mode: "files" })).toMatchObject({
      found: [
        ["-dash", 1],
        ["a/one.ts", 2],
        ["b.txt", 1],
        ["bom.txt", 1],
        ["latin.txt", 1],
        ["minified.js", 3],
        ["wide.txt", 1],
        ["ünï cöde/naïve.md", 1],
      ],
    });
  });

  it("narrows by glob without bringing ignored files back", async () => {
    await build(root, {
      ".gitignore": "ignored.ts\nout/",
      "ignored.ts": "alpha",
      "out/x.ts": "alpha",
      "src/deep/x.ts": "alpha",
      "src/x.tsx": "alpha",
    });
    const paths = async (glob: string) =>
      ((await search("alpha", { glob, mode: "files" })) as { found: string[][] }).found.map((f) => f[0]);
    expect(await paths("**/*.ts")).toEqual(["a/one.ts", "src/deep/x.ts"]);
    expect(await paths("src/**/*.{ts,tsx}")).toEqual(["src/deep/x.ts", "src/x.tsx"]);
    expect(await paths("{a,src/deep}/*.ts")).toEqual(["a/one.ts", "src/deep/x.ts"]);
    expect(await paths("src/**")).toEqual(["src/deep/x.ts", "src/x.tsx"]);
    expect(await paths("**/[o]ne.ts")).toEqual(["a/one.ts"]);
  });

  it("tells the first files by path and counts the others", async () => {
    const names = Array.from(
      { length: 600 },
      (_, i) => `many/${i % 7}/${String((i * 7919) % 600).padStart(3, "0")}.txt`,
    );
    await build(root, Object.fromEntries(names.map((name) => [name, ""])));
    for (const engine of await engines()) {
      const { files: first, total } = await engine.files("many", { glob: "**/*.txt", limit: 20 }, never);
      expect(total).toBe(600);
      const sorted = names.map((name) => name.slice("many/".length)).sort();
      expect(first).toEqual(sorted.slice(0, 20));
    }
  });

  it("keeps the first by path when there is more than the limit", async () => {
    for (let i = 0; i < 30; i++) await build(root, { [`many/${String(i).padStart(2, "0")}.txt`]: "hit\n".repeat(10) });
    const result = (await search("hit", { limit: 15, path: "many" })) as { found: unknown[][]; totalCount: number };
    expect(result.found.map((file) => file[0])).toEqual(["00.txt", "01.txt"]);
    expect(result.totalCount).toBe(300);
    await search("hit", { limit: 7, context: 3, path: "many/00.txt" });
  });

  it("a search that matches almost everything is cut short, at the same place", async () => {
    for (let i = 0; i < 30; i++)
      await build(root, { [`many/${String(i).padStart(2, "0")}.txt`]: "hit\n".repeat(1000) });
    const request: SearchRequest = {
      pattern: "h",
      mode: "content",
      ignoreCase: false,
      multiline: false,
      context: 0,
      limit: 1500,
    };
    const results = [];
    for (const engine of await engines()) {
      const result = await engine.search("many", request, never);
      expect(result.isPartial || result.totalCount > 20_000).toBe(true);
      results.push(result.files.map((file) => [file.path, file.lines.length]));
    }
    expect(results[0]?.slice(0, 1)).toEqual([["00.txt", 1000]]);
    for (const result of results) expect(result.map(([path]) => path)).toEqual(["00.txt", "01.txt"]);
  });
});

describe("safety", () => {
  it("an expression that runs away is stopped", async () => {
    await build(root, { a: `${"a".repeat(60)}!` });
    const engine = new Searcher(await Workspace.open(root), { ripgrep: false, limitMs: 200 });
    const request: SearchRequest = {
      pattern: "^(a+)+$",
      mode: "content",
      ignoreCase: false,
      multiline: false,
      context: 0,
      limit: 1,
    };
    await expect(engine.search(".", request, never)).rejects.toThrow(/takes too long/);
  });

  it("a huge file without line ends costs neither time nor memory", async () => {
    await build(root, { "text.txt": "alpha\n", "disk.img": "" });
    await truncate(join(root, "disk.img"), 50e9);
    expect(await search("alpha", { path: "disk.img" })).toMatchObject({ isBinary: true });
    expect(await search("alpha")).toMatchObject({ totalFiles: 1 });
    await build(root, { "long.txt": `${"x".repeat(3_000_000)} alpha` });
    expect(await search("alpha", { path: "long.txt", mode: "count" })).toMatchObject({ totalCount: 1 });
  });

  it("a pattern is never an option", async () => {
    await build(root, { a: "--version\n-e x\n" });
    expect(await search("--version")).toMatchObject({ totalCount: 1 });
    expect(await search("-e x")).toMatchObject({ totalCount: 1 });
  });

  it("cancelling ends it", async () => {
    await build(root, Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`d${i}/f`, "text\n".repeat(100)])));
    for (const engine of await engines()) {
      const controller = new AbortController();
      const running = engine.search(
        ".",
        { pattern: "t", mode: "content", ignoreCase: false, multiline: false, context: 0, limit: 1 },
        controller.signal,
      );
      controller.abort(new Error("stop"));
      await expect(running).rejects.toThrow("stop");
    }
  });

  it("an ignore file that makes no sense is not a failure", async () => {
    await build(root, { ".gitignore": "[\n{a\nb", a: "alpha\n", b: "alpha\n" });
    expect(await search("nowhere")).toMatchObject({ totalCount: 0 });
    expect(await search("alpha")).toMatchObject({ totalCount: 1 });
  });

  verifies(["T4"], "falls back when the program does not work", async () => {
    await build(root, { a: "alpha\n" });
    const workspace = await Workspace.open(root);
    for (const bad of [join(base, "missing"), "/bin/cat"]) {
      const engine = new Searcher(workspace, { ripgrep: bad });
      const request: SearchRequest = {
        pattern: "alpha",
        mode: "content",
        ignoreCase: false,
        multiline: false,
        context: 0,
        limit: 1,
      };
      expect((await engine.search(".", request, never)).totalCount, bad).toBe(1);
    }
  });

  it("does not run a program of the workspace, nor one from a relative folder of the PATH", async () => {
    await build(root, { "bin/rg": "#!/bin/sh\ntouch pwned\n" });
    execFileSync("chmod", ["+x", join(root, "bin/rg")]);
    const here = "file:///nowhere/at/all.js";
    expect(await findRipgrep({ path: join(root, "bin"), packagePath: here })).toBe(join(root, "bin/rg"));
    expect(await findRipgrep({ path: join(root, "bin"), packagePath: here, avoid: [root] })).toBeUndefined();
    expect(await findRipgrep({ path: "bin:.:", packagePath: here })).toBeUndefined();
    expect(await findRipgrep({ packagePath: here })).toBeUndefined();
  });
});

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

afterAll(() => {
  if (program === undefined) console.warn("ripgrep was not found: only the built-in search was tested");
});

it("finds files although an ignore file is a named pipe, on which ripgrep waits forever", async () => {
  await build(root, { "a.txt": "needle\n", "d/b.txt": "needle\n" });
  execFileSync("mkfifo", [join(root, ".gitignore"), join(root, "d/.ignore")]);
  const workspace = await Workspace.open(root);
  const searcher = new Searcher(workspace, { ripgrep: program ?? false, silentMs: 100 });
  const { files } = await searcher.search(".", { pattern: "needle", mode: "files", limit: 10 } as SearchRequest, never);
  expect(files.map(({ path }) => path).sort()).toEqual(["a.txt", "d/b.txt"]);
  expect((await searcher.files(".", { glob: "**/*.txt", limit: 10 }, never)).files).toEqual(["a.txt", "d/b.txt"]);
});

describe("files that hold secrets", () => {
  verifies(["P3"], "are left out of a search, unless it begins in a folder of such", async () => {
    const layout = { "a.txt": "needle\n", ".env": "needle\n", "sub/.env": "needle\n", ".ssh/id_rsa": "needle\n" };
    await build(root, layout);
    const seen = async (path?: string) => JSON.stringify(await search("needle", path === undefined ? {} : { path }));
    expect(await seen()).toContain("a.txt");
    for (const path of [undefined, "sub"]) expect(await seen(path)).not.toMatch(/\.env|id_rsa/);
    expect(await seen(".ssh")).toContain("id_rsa");
  });
});
