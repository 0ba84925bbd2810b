/** The git tool in the sandbox of programs that only read, with the real git and the real bubblewrap. */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { verifies } from "../../../test/verifies.js";
import { plainText } from "../../protocol/content.js";
import { findProgram } from "../../system/find-program.js";
import { createGitTool } from "../../tools/git.js";
import { ReaderSandbox } from "./reader.js";
import { PATH, SandboxTestbed } from "./sandbox-testbed.js";
import type { SandboxState } from "./state.js";

let bed: SandboxTestbed;
let state: SandboxState;
let hidden: string[];

beforeEach(async () => {
  bed = new SandboxTestbed();
  state = await bed.sandbox().state();
  hidden = [];
});
afterEach(() => bed.close());

const reader = () => new ReaderSandbox({ state, folder: bed.state, architecture: process.arch, hidden: () => hidden });

/** What a program prints in the reader, and how it ends. */
function read(program: string, args: readonly string[], readable: readonly string[] = [bed.workspace]) {
  const cwd = readable[0] ?? "/";
  const wrapped = reader().wrap(
    { program: findProgram(program, PATH, { outside: process.cwd() }) ?? "", args, cwd, env: { PATH } },
    readable,
  );
  if (wrapped === undefined) throw new Error("There is no reader.");
  const stdio = ["ignore", "pipe", "pipe", ...wrapped.descriptors] as const;
  const { status, stdout, stderr } = spawnSync(wrapped.program, wrapped.args, { stdio: [...stdio], encoding: "utf8" });
  void wrapped.ended();
  return { status, output: stdout + stderr };
}

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@localhost", ...args], { cwd, encoding: "utf8" });

function repository(folder: string): void {
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "-q", "-b", "main");
  writeFileSync(join(folder, "a.txt"), "one\n");
  git(folder, "add", ".");
  git(folder, "commit", "-qm", "first");
  writeFileSync(join(folder, "a.txt"), "two\n");
}

/** The git tool as a run wires it. */
async function tool(workspaceRoot: string, action: string, args: readonly string[] = []) {
  const sandbox = reader();
  let wrapped = 0;
  const made = createGitTool({
    workspaceRoot,
    environment: { PATH, HOME: homedir() },
    wrapReader: async (command, readable) => {
      const [program = "", ...rest] = command.argv;
      const around = sandbox.wrap({ program, args: rest, cwd: command.cwd, env: command.env }, readable);
      if (around === undefined) return command;
      wrapped += 1;
      return { ...around, argv: [around.program, ...around.args], isWrapper: true, endsWithAll: true };
    },
  });
  const outcome = await made.run({ action, args: [...args] }, { signal: new AbortController().signal, progress() {} });
  return { status: outcome.status, output: plainText(outcome.content), wrapped };
}

needs("sandbox").describe("the sandbox of programs that only read", () => {
  verifies(["P8"], "shows the folders it is given and nothing else, and lets nothing be changed", () => {
    const secret = bed.write(join(bed.outside, "secret"), "hidden words\n");
    bed.write(bed.path("a"), "shown words\n");
    bed.write(bed.path("keys/k"), "own key\n");
    hidden = [bed.path("keys")];
    expect(read("cat", [bed.path("a")]).output).toBe("shown words\n");
    for (const path of [secret, "/etc/passwd", `${homedir()}/.bashrc`, "/proc/self/environ", bed.path("keys/k")])
      expect([path, read("cat", [path]).status]).toEqual([path, 1]);
    expect(read("touch", [bed.path("b")]).status).not.toBe(0);
    expect(read("touch", ["/b"]).status).not.toBe(0);
    expect(existsSync(bed.path("b"))).toBe(false);
    expect(read("bash", ["-c", "exec 5<>/dev/tcp/127.0.0.1/9 || ls /sys/class/net"]).output).not.toContain("eth");
  });

  it("is not used where a program does not start in it", () => {
    const program = bed.write(join(bed.outside, "elsewhere/tool"), "no program\n");
    expect(reader().wrap({ program, args: [], cwd: "/", env: {} }, [])).toBeUndefined();
  });

  verifies(["P8"], "is around the git tool, which works in it", async () => {
    repository(bed.workspace);
    for (const [action, args] of [
      ["status", []],
      ["diff", []],
      ["log", ["-p"]],
      ["show", ["HEAD:a.txt"]],
      ["blame", ["a.txt"]],
    ] as const)
      expect([action, await tool(bed.workspace, action, args)]).toMatchObject([action, { status: "ok", wrapped: 1 }]);
    expect((await tool(bed.workspace, "status")).output).toBe("## main\n M a.txt");
    expect((await tool(bed.workspace, "diff")).output).toContain("+two");
  });

  it("lets the git tool work where the repository lies outside the workspace", async () => {
    repository(bed.outside);
    writeFileSync(join(bed.outside, ".gitignore"), "ignored.txt\nstate\n");
    const folder = join(bed.outside, "part/deeper");
    mkdirSync(folder, { recursive: true });
    for (const name of ["ignored.txt", "new.txt"]) writeFileSync(join(folder, name), "x\n");
    expect(await tool(folder, "status")).toMatchObject({ wrapped: 1, output: "## main\n?? ./" });
    expect((await tool(folder, "status", ["-s", "-uall"])).output).toBe("?? new.txt");
    const worktree = join(bed.outside, "worktree");
    git(bed.outside, "worktree", "add", "-q", worktree, "-b", "topic");
    expect(await tool(worktree, "status")).toMatchObject({ wrapped: 1, output: "## topic" });
    expect((await tool(worktree, "log", ["--format=%s"])).output).toBe("first");
  });
});
