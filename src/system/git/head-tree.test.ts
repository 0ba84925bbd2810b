/** The files of a commit, read without git, as git wrote them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HeadTree } from "./head-tree.js";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "head-")));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function git(...args: readonly string[]): string {
  const identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
  return execFileSync("git", [...identity, ...args], { cwd: folder, encoding: "utf8" });
}

function write(path: string, text: string): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Many versions of a long file, so that a pack holds it as differences. */
function commitSome(): void {
  const lines = Array.from({ length: 400 }, (_, index) => `line ${index}: ${"word ".repeat(index % 9)}`);
  write(".gitignore", "dist/\n");
  write("src/a.ts", "a\n");
  for (let version = 0; version < 6; version++) {
    lines[version * 50] = `version ${version}`;
    write("src/deep/long.txt", lines.join("\n"));
    write(`src/more/${version}.txt`, `${version}\n`);
    git("add", "-A");
    git("commit", "-qm", `version ${version}`);
  }
}

describe("the tree of HEAD", () => {
  for (const [name, pack] of [
    ["loose objects", () => {}],
    ["a pack", () => git("gc", "-q", "--aggressive", "--prune=now")],
    ["a pack whose differences name their base", () => git("-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq")],
  ] as const) {
    it(`is read from ${name}`, () => {
      git("init", "-q", "-b", "main");
      commitSome();
      pack();
      const long = git("show", "HEAD:src/deep/long.txt");
      // What is in the work tree and in the index now does not count.
      write(".gitignore", "src/\n");
      git("add", "-A");
      const head = HeadTree.around(join(folder, "src"));
      expect(head?.top).toBe(folder);
      expect(head?.text(join(folder, ".gitignore"))).toBe("dist/\n");
      expect(head?.text(join(folder, "src/deep/long.txt"))).toBe(long);
      expect(
        ["src", "src/deep", "src/a.ts", "dist", "src/none/x"].map((path) => head?.kindOf(join(folder, path))),
      ).toEqual(["folder", "folder", "file", undefined, undefined]);
      head?.close();
    });
  }

  it("is read with hashes of 256 bits, in a worktree, and with the names of branches packed", () => {
    git("init", "-q", "-b", "main", "--object-format=sha256");
    write("a", "one\n");
    git("add", "-A");
    git("commit", "-qm", "one");
    git("worktree", "add", "-q", "-b", "side", join(folder, "side"));
    git("pack-refs", "--all");
    expect(HeadTree.around(join(folder, "side"))?.text(join(folder, "side/a"))).toBe("one\n");
  });

  it("does not exist before the first commit, and where an object has a wrong name", () => {
    git("init", "-q", "-b", "main");
    expect(HeadTree.around(folder)).toBeUndefined();
    write("a", "one\n");
    git("add", "-A");
    git("commit", "-qm", "one");
    const [one, other] = ["HEAD:", "HEAD"].map((name) => git("rev-parse", name).trim());
    const place = (name = "") => join(folder, ".git/objects", name.slice(0, 2), name.slice(2));
    execFileSync("cp", ["-f", place(other), place(one)]);
    expect(HeadTree.around(folder)).toBeUndefined();
  });
});
