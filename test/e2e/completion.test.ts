import { spawnSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, expect } from "vitest";
import { oxbow, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const PROGRAM = resolve(import.meta.dirname, "../../oxbow");

/** What bash would offer for a line: the function that `complete` names is called as bash calls it. */
async function offered(lines: readonly string[]): Promise<readonly string[][]> {
  const home = await temporaryFolder();
  const bin = join(home, "bin");
  await mkdir(bin);
  await symlink(PROGRAM, join(bin, "oxbow"));
  await writeFile(join(home, "notes.md"), "");
  const calls = lines.map(
    (line) => `COMP_LINE=${JSON.stringify(line)}; COMP_POINT=\${#COMP_LINE}; "$handler" oxbow; echo "\${COMPREPLY[*]}"`,
  );
  const script = [
    "source <(oxbow completion bash)",
    "compopt() { :; }",
    "handler=$(complete -p oxbow | sed 's/.*-F \\([^ ]*\\) .*/\\1/')",
    ...calls,
  ].join("\n");
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: home, OXBOW_HOME: join(home, "oxbow") };
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", script], { cwd: home, env, encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" ").filter(Boolean));
}

describe("oxbow completion", () => {
  verifies(["U10"], "completes in bash, also behind ':' and '='", async () => {
    expect(
      await offered([
        "oxbow perm",
        "oxbow route a",
        "oxbow cost --by=d",
        "oxbow --model offline:o",
        "oxbow permissions set no",
        "oxbow bench --ru",
      ]),
    ).toEqual([["permissions"], ["add"], ["day"], ["offline"], ["notes.md"], ["--runs"]]);
  });

  verifies(["U10"], "prints a script for each shell that reads it, and refuses others", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { stdout, code } = await oxbow(["completion", shell]);
      expect(code).toBe(0);
      expect(stdout).toContain("completion candidates --");
      const checked = spawnSync(shell, ["-n"], { input: stdout, encoding: "utf8" });
      // Shells that are not installed cannot be asked.
      if (checked.error === undefined) expect([checked.status, checked.stderr], shell).toEqual([0, ""]);
    }
    expect(await oxbow(["completion", "tcsh"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("bash|zsh|fish"),
    });
  });
});
