import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { quietGit } from "../../runtime/subagents.js";
import type { PastEntry } from "../undo/past.js";
import { openRerunFolder, removeRerunFolder } from "./worktree.js";

function folder(): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-trees-")));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

async function repository(prepare: (root: string) => void) {
  const root = folder();
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-C", root, "-c", "user.name=a", "-c", "user.email=a@b", ...args], { encoding: "utf8" });
  git("init", "-q");
  prepare(root);
  git("add", ".");
  git("commit", "-q", "--allow-empty", "-m", "first");
  const quiet = await quietGit({ PATH: process.env.PATH });
  const open = async (past: ReadonlyMap<string, PastEntry> = new Map(), since = new Date().toISOString()) => {
    const made = await openRerunFolder({ root, home: root, git: quiet, name: "test", since, past });
    if ("problem" in made) throw new Error(made.problem);
    onTestFinished(() => rmSync(dirname(made.top), { recursive: true, force: true }));
    return made;
  };
  return { root, git, quiet, open };
}

verifies(["S12"], "a rerun writes nothing through a link that the repository tracks", async () => {
  const outside = folder();
  const { root, open } = await repository((at) => {
    symlinkSync(outside, join(at, "way"));
    symlinkSync(outside, join(at, "kept"));
  });
  // Now a folder: the file in it is new, and in the last commit the way to it is a link.
  rmSync(join(root, "way"));
  mkdirSync(join(root, "way"));
  writeFileSync(join(root, "way", "file"), "inside");
  const bytes = Buffer.from("attack");
  const past = new Map([
    ["kept/file", { state: { kind: "file", mode: 0o644 }, bytes } as const],
    ["../above", { state: { kind: "file", mode: 0o644 }, bytes } as const],
    ["/absolute", { state: { kind: "file", mode: 0o644 }, bytes } as const],
  ]);
  const { root: made, notes } = await open(past);
  expect(existsSync(join(outside, "file"))).toBe(false);
  expect(existsSync(join(dirname(made), "above"))).toBe(false);
  expect(readFileSync(join(made, "way", "file"), "utf8")).toBe("inside");
  expect(readlinkSync(join(made, "kept"))).toBe(outside);
  expect(notes).toContain("kept/file is missing: its folder is a link, or not in the worktree.");
  expect(notes).toContain("/absolute is outside of the workspace: it is as it is now.");
});

verifies(["S12"], "a rerun says what differs from its moment, and keeps modes and links", async () => {
  const { root, git, open } = await repository((at) => writeFileSync(join(at, "old"), "old"));
  writeFileSync(join(root, "since"), "someone else");
  git("commit", "-q", "--allow-empty", "-m", "second");
  const past = new Map<string, PastEntry>([
    ["big", { state: { kind: "file", size: 1 }, missing: "its content was too large to keep" }],
    ["run", { state: { kind: "file", mode: 0o755 }, bytes: Buffer.from("x") }],
    ["folder", { state: { kind: "folder", mode: 0o755 } }],
    ["folder/link", { state: { kind: "link", target: "../old" } }],
    ["old", { state: undefined }],
  ]);
  const { root: made, notes } = await open(past, new Date(Date.now() - 60_000).toISOString());
  expect(notes).toEqual([
    "big is missing: its content was too large to keep.",
    "The repository has 2 commits since then: other files in them are as they are now.",
    "Something else changed these since then, so they are as they are now: since.",
  ]);
  expect(lstatSync(join(made, "run")).mode & 0o111).toBe(0o111);
  expect(readlinkSync(join(made, "folder", "link"))).toBe("../old");
  expect(existsSync(join(made, "old"))).toBe(false);
});

verifies(
  ["S12"],
  "the folder of a rerun goes with its branch, unless something was committed there; no other folder goes",
  async () => {
    const { root, git, quiet, open } = await repository(() => {});
    const first = await open();
    await removeRerunFolder(first.root, { home: root, git: quiet });
    expect([existsSync(dirname(first.top)), git("branch", "--list", "oxbow/*")]).toEqual([false, ""]);
    const second = await open();
    execFileSync("git", [
      "-C",
      second.top,
      "-c",
      "user.name=a",
      "-c",
      "user.email=a@b",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "work",
    ]);
    await removeRerunFolder(second.root, { home: root, git: quiet });
    expect([existsSync(second.top), git("branch", "--list", "oxbow/*").trim()]).toEqual([false, "oxbow/rerun-test"]);
    await removeRerunFolder(root, { home: root, git: quiet });
    expect(existsSync(root)).toBe(true);
  },
);

verifies(["S12"], "a rerun of a rerun follows no .git file that its tools may have written", async () => {
  const { root, quiet, open } = await repository((at) => writeFileSync(join(at, "file"), "first"));
  const first = await open();
  writeFileSync(join(first.root, "file"), "of the rerun");
  const trap = folder();
  const made = join(trap, "made");
  mkdirSync(join(trap, ".git", "worktrees", "x"), { recursive: true });
  writeFileSync(join(trap, ".git", "config"), `[core]\n\tfsmonitor = "touch ${made}"\n`);
  writeFileSync(join(trap, ".git", "worktrees", "x", "gitdir"), `${join(first.top, ".git")}\n`);
  writeFileSync(join(first.top, ".git"), `gitdir: ${join(trap, ".git", "worktrees", "x")}\n`);
  const again = await openRerunFolder({
    ...{ root: first.root, home: root, git: quiet, name: "again", since: new Date().toISOString(), past: new Map() },
  });
  if ("problem" in again) throw new Error(again.problem);
  onTestFinished(() => rmSync(dirname(again.top), { recursive: true, force: true }));
  expect(readFileSync(join(again.root, "file"), "utf8")).toBe("of the rerun");
  expect(existsSync(made)).toBe(false);
});
