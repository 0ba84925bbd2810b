/** The sandbox of programs that only read, with the real bubblewrap. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { verifies } from "../../../test/verifies.js";
import { findProgram } from "../../system/find-program.js";
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
});
