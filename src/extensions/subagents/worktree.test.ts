import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { quietGit } from "../../runtime/subagents.js";
import { openWorktree, type Worktree } from "./worktree.js";

verifies(["L17"], "the end of one subagent keeps the changes of another that removed its .git file", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-trees-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const run = (...args: string[]) => execFileSync("git", ["-C", root, ...args], { encoding: "utf8" }).trim();
  run("init", "-q");
  run("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first");
  const records = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-records-")));
  onTestFinished(() => rmSync(records, { recursive: true, force: true }));
  const git = await quietGit({ PATH: process.env.PATH });
  const open = async (name: string) =>
    (await openWorktree({ root, git, name, description: name, records })) as Worktree;
  const [one, other] = [await open("one"), await open("other")];
  writeFileSync(join(one.root, "new.txt"), "new");
  rmSync(join(one.root, ".git"));
  await other.remove();
  expect(await one.keep("work")).toContain("on the branch oxbow/agent-one");
  await one.remove();
  expect(run("show", "oxbow/agent-one:new.txt")).toBe("new");
  expect(run("worktree", "list").split("\n")).toHaveLength(1);
  expect(readdirSync(join(root, ".git")), "nothing is left of the worktrees").not.toContain("worktrees");
  expect(readdirSync(records)).toEqual([]);
});
