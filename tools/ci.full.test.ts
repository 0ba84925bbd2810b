import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const GOOD = {
  start: "echo hello",
  bare: "echo '3 passed, 0 failed, 2 skipped'",
  full: "echo '9 passed, 0 failed, 0 skipped'",
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "oxbow-ci-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs `.ci/run` in a repository of its own, with an npm that does what the shell commands say. */
function run(commands: Partial<typeof GOOD>) {
  const { start, bare, full } = { ...GOOD, ...commands };
  const root = join(folder, "project");
  cpSync(join(ROOT, ".ci"), join(root, ".ci"), { recursive: true });
  const programs = join(folder, "programs");
  mkdirSync(programs);
  const npm = `#!/bin/sh\ncase $1 in start) ${start} ;; test) ${bare} ;; run) ${full} ;; esac\n`;
  writeFileSync(join(programs, "npm"), npm, { mode: 0o755 });
  // It installs nothing here.
  writeFileSync(join(programs, "apt-get"), "#!/bin/sh\n", { mode: 0o755 });
  const env = { PATH: [programs, process.env.PATH].join(delimiter), HOME: folder, TMPDIR: folder };
  const who = ["-c", "user.name=x", "-c", "user.email=x"];
  for (const args of [
    ["init", "-q"],
    ["add", "."],
    [...who, "commit", "-qm", "all"],
  ])
    expect(spawnSync("git", args, { cwd: root, env, encoding: "utf8" })).toMatchObject({ status: 0 });
  const { status, stdout } = spawnSync(join(root, ".ci", "run"), { cwd: root, env, encoding: "utf8" });
  return { status, last: stdout.trimEnd().split("\n").at(-1) };
}

describe(".ci/run", () => {
  it.each([
    ["the counts of the full run", {}, { status: 0, last: "9 passed, 0 failed, 0 skipped" }],
    [
      "failures of the bare run too",
      { bare: "echo '3 passed, 2 failed, 0 skipped'; exit 1" },
      { status: 1, last: "9 passed, 2 failed, 0 skipped" },
    ],
    [
      "failures of both",
      { bare: "echo '3 passed, 2 failed, 0 skipped'; exit 1", full: "echo '8 passed, 1 failed, 0 skipped'; exit 1" },
      { status: 1, last: "8 passed, 3 failed, 0 skipped" },
    ],
    ["a start that says nothing as a failure", { start: "true" }, { status: 1, last: "9 passed, 1 failed, 0 skipped" }],
    ["a start that fails", { start: "echo x; exit 3" }, { status: 1, last: "9 passed, 1 failed, 0 skipped" }],
    ["a run without its last line", { full: "echo x" }, { status: 1, last: "0 passed, 1 failed, 0 skipped" }],
    ["a wrong exit code", { full: `${GOOD.full}; exit 1` }, { status: 1, last: "9 passed, 1 failed, 0 skipped" }],
  ])("ends with %s", (_, commands, expected) => {
    expect(run(commands)).toEqual(expected);
  });
});
