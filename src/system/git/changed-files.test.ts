import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { countChangedFiles } from "./changed-files.js";

let base: string;
let root: string;
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@localhost", ...args], { cwd: root, stdio: "pipe" });

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-changed-")));
  root = join(base, "work");
  mkdirSync(join(root, "src"), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true }));

describe("the changed files of a work tree", () => {
  verifies(["L21"], "are those that git status names as modified or deleted", () => {
    git("init", "-q");
    for (const name of ["a", "b", "c", "src/d"]) writeFileSync(join(root, name), `${name}\n`);
    git("add", ".");
    git("commit", "-qm", "x");
    expect(countChangedFiles(root)).toBe(0);
    writeFileSync(join(root, "a"), "longer than before\n");
    writeFileSync(join(root, "b"), "B\n");
    rmSync(join(root, "src/d"));
    writeFileSync(join(root, "untracked"), "");
    // Only its time differs.
    utimesSync(join(root, "c"), 1, 1);
    expect(countChangedFiles(root)).toBe(3);
    expect(countChangedFiles(join(root, "src"))).toBe(3);
    git("add", ".");
    expect(countChangedFiles(root)).toBe(0);
    git("commit", "-qm", "y");
    git("update-index", "--skip-worktree", "a");
    git("update-index", "--assume-unchanged", "b");
    for (const name of ["a", "b"]) rmSync(join(root, name));
    expect(countChangedFiles(root)).toBe(0);
  });

  verifies(["L21"], "count once with conflicts, and in a repository with the longer hashes", () => {
    git("init", "-q", "--object-format=sha256", "-b", "main");
    writeFileSync(join(root, "a"), "base\n");
    writeFileSync(join(root, "b"), "kept\n");
    git("add", ".");
    git("commit", "-qm", "base");
    git("switch", "-qc", "topic");
    writeFileSync(join(root, "a"), "theirs\n");
    git("commit", "-qam", "theirs");
    git("switch", "-q", "main");
    writeFileSync(join(root, "a"), "ours, longer\n");
    git("commit", "-qam", "ours");
    expect(() => git("merge", "topic")).toThrow();
    utimesSync(join(root, "b"), 1, 1);
    expect(countChangedFiles(root)).toBe(1);
  });

  verifies(["L21", "P3"], "are counted without a program, and unknown where it would take long", () => {
    git("init", "-q");
    for (let at = 0; at <= 200; at++) writeFileSync(join(root, `f${at}`), "same\n");
    git("add", ".");
    const marker = join(base, "MARKER");
    const program = join(base, "program");
    writeFileSync(program, `#!/bin/sh\n: > "${marker}"\n`);
    chmodSync(program, 0o755);
    git("config", "core.fsmonitor", program);
    writeFileSync(join(root, "f0"), "other content\n");
    expect(countChangedFiles(root)).toBe(1);
    for (let at = 0; at <= 200; at++) {
      writeFileSync(join(root, `f${at}`), "same\n");
      utimesSync(join(root, `f${at}`), 1, 1);
    }
    expect(countChangedFiles(root)).toBeUndefined();
    expect(() => realpathSync(marker)).toThrow("ENOENT");
  });

  verifies(["L21"], "are unknown without a repository, or an index that can be read", () => {
    expect(countChangedFiles(root)).toBeUndefined();
    git("init", "-q");
    expect(countChangedFiles(root)).toBeUndefined();
    writeFileSync(join(root, ".git/index"), "DIRC and no more");
    expect(countChangedFiles(root)).toBeUndefined();
  });
});
