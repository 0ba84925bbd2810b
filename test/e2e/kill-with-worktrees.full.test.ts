/** The program is killed while subagents work in worktrees. The next start keeps their work and removes the rest. */
import { execFileSync } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import { oxbow, oxbowProcess, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const WORKER = "---\ndescription: works apart\nisolation: worktree\n---\n";
const NEWS = /A subagent in \S+ was killed \(write\)\. /;

function agent(prompt: string) {
  return { type: "worker", description: prompt, prompt: `${prompt} it` };
}

/** A repository in which a killed program has left the worktrees of a subagent that wrote a file and of one that only read. */
async function killed() {
  const mock = await startMockModel({
    script: script([
      reply().when("begin").tool("agent", agent("write")).tool("agent", agent("read")),
      reply().when("write it").tool("write", { path: "new.txt", content: "new" }),
      reply().when("read it").tool("read", { path: "old.txt" }),
      reply().when("tool-results", { contains: "" }).hang().times(2),
      reply().text("Fine.").times(9),
    ]),
  });
  onTestFinished(() => mock.close());
  const [home, cwd] = [await temporaryFolder(), await temporaryFolder()];
  await mkdir(join(cwd, ".oxbow", "agents"), { recursive: true });
  await writeFile(join(cwd, ".oxbow", "agents", "worker.md"), WORKER);
  await writeFile(join(cwd, "old.txt"), "old");
  await approve(cwd, { home });
  const git = (...args: string[]) => execFileSync("git", ["-C", cwd, ...args], { encoding: "utf8" }).trim();
  git("init", "-q");
  git("add", "--all");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first");
  const env = { ...providerEnvironment("anthropic", mock.url), OXBOW_HOME: home };
  await oxbowProcess(["run", "--permission-mode", "allow", "--stream-events", "begin"], {
    ...{ cwd, env },
    onStart: (child) => {
      // The parent's request, and two of each subagent.
      const look = setInterval(() => mock.requests.length === 5 && child.kill("SIGKILL"), 5);
      child.on("exit", () => clearInterval(look));
    },
  });
  const trees = () => git("worktree", "list", "--porcelain").split("\n\n");
  const branches = () => git("branch", "--list", "oxbow/*", "--format=%(refname:short)").split("\n");
  expect([trees().length, branches().length]).toEqual([3, 2]);
  return { cwd, env, git, trees, branches, run: (...args: string[]) => oxbow(args, { cwd, env }) };
}

describe("worktrees of a killed program", () => {
  verifies(["L17", "S5"], "are listed, and the next start leaves only a branch with the work", async () => {
    const { run, git, trees, branches } = await killed();
    const listed = await run("agents");
    expect(listed.stdout).toMatch(NEWS);
    expect(listed.stdout).toContain("was killed (read)");
    expect(trees(), "a list changes nothing").toHaveLength(3);
    const { code, stdout, stderr } = await run("run", "again");
    expect([code, stdout]).toEqual([0, "Fine.\n"]);
    const [branch = "", ...more] = branches();
    expect([trees().length, more]).toEqual([1, []]);
    expect(stderr).toMatch(new RegExp(`${NEWS.source}Its changes are .* on the branch ${branch} \\(1 file changed`));
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(git("show", `${branch}:new.txt`)).toBe("new");
    expect(git("status", "--porcelain")).toBe("");
    expect((await run("agents")).stdout).not.toContain("was killed");
    expect((await run("run", "again")).stderr).toBe("");
  });

  verifies(["L17"], "whose folders are gone keep what was committed", async () => {
    const { run, git, trees, branches } = await killed();
    for (const tree of trees().slice(1)) {
      const path = /^worktree (\S+)/.exec(tree)?.[1] ?? "";
      const isWriter = await readFile(join(path, "new.txt"), "utf8").catch(() => "");
      if (isWriter === "new") {
        execFileSync("git", ["-C", path, "add", "--all"]);
        execFileSync("git", ["-C", path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "second"]);
      }
      await rm(join(path, ".."), { recursive: true });
    }
    const { stderr } = await run("run", "again");
    const [branch = "", ...more] = branches();
    expect([trees().length, more]).toEqual([1, []]);
    expect(stderr).toMatch(new RegExp(`${NEWS.source}Its commits are on the branch ${branch}\\.`));
    expect(git("show", `${branch}:new.txt`)).toBe("new");
  });

  verifies(["L17"], "are not touched while their program works", async () => {
    const { cwd, env, run, trees } = await killed();
    await run("run", "again");
    let seen = "";
    const slow = await startMockModel({
      script: script([
        reply().when("begin").tool("agent", agent("write")),
        reply().when("write it").tool("write", { path: "new.txt", content: "new" }),
        reply().when("tool-results", { contains: "" }).hang(),
      ]),
    });
    onTestFinished(() => slow.close());
    await oxbowProcess(["run", "--permission-mode", "allow", "begin"], {
      cwd,
      env: { ...env, ...providerEnvironment("anthropic", slow.url) },
      onStart: (child) => {
        const look = setInterval(async () => {
          if (slow.requests.length < 3) return;
          clearInterval(look);
          const other = await oxbowProcess(["run", "again"], { cwd, env });
          seen = `${other.code} ${other.stderr} ${trees().length}`;
          child.kill("SIGINT");
        }, 5);
      },
    });
    expect(seen).toBe("0  2");
  });
});
