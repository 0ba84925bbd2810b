import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { skipWithout } from "../../../test/support/needs.js";
import { survivors } from "../../../test/support/survivors.js";
import { verifies } from "../../../test/verifies.js";
import type { ExtensionFile } from "../../base/extension-files.js";
import { nodeClock } from "../../system/node-clock.js";
import type { Containment } from "./containment.js";
import { executableHooks, runHook } from "./hooks.js";

/** Recognisable among the processes of the machine. */
const NAP = 300000 + process.pid;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "oxbow-hook-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, script = "", scope: ExtensionFile["scope"] = "project"): ExtensionFile {
  const path = join(folder, name.replaceAll("/", "_"));
  writeFileSync(path, `#!/bin/bash\n${script}\n`);
  chmodSync(path, 0o755);
  return {
    ...{ kind: "hook", scope, path, source: folder, name, executable: true, sha256: name },
    read: async () => script,
    program: async () => path,
  };
}

function containment(): Containment {
  const env = { PATH: process.env.PATH ?? "" };
  return {
    root: folder,
    env,
    clock: nodeClock,
    acting: async (command) => command,
    reading: async (command) => command,
  };
}

async function run(script: string, timeoutMs = 20_000) {
  const [hook] = executableHooks([file("start/10-x", script)], { report: () => {}, isKept: () => false });
  if (hook === undefined) throw new Error("it is no hook");
  return runHook(hook, { words: "x".repeat(100_000) }, { containment: containment(), timeoutMs });
}

describe("an executable hook", () => {
  verifies(["E2"], "is stopped at its deadline with everything that it started", async (context) => {
    skipWithout(context, "setsid");
    const forks = `for i in 1 2 3; do (setsid sleep ${NAP} &); done; trap "" TERM; sleep ${NAP}`;
    expect((await run(forks, 300)).problem).toBe("did not end within 300ms, so it was stopped");
    expect(survivors(`sleep ${NAP}`)).toEqual([]);
  });

  it("need not read its input, and may print nothing", async () => {
    expect(await run("exec 0<&-; exit 0")).toEqual({});
    expect(await run("cat > /dev/null; echo '{\"a\": 1}'")).toEqual({ output: { a: 1 } });
    expect(await run("echo because >&2; exit 2")).toEqual({ refusal: "because" });
  });

  it("is chosen by stage and name; the closest file wins", () => {
    const problems: string[] = [];
    const hooks = executableHooks(
      [
        file("start/20-b.sh", "", "user"),
        file("start/20-b.py"),
        file("start/10-a"),
        file("start/lib.sh"),
        file("lib/common.sh"),
        file("done/80-save"),
        file("start/deep/10-x"),
      ],
      { report: (problem) => problems.push(problem), isKept: (stage) => stage === "done" },
    );
    expect(hooks.map(({ name, shadows }) => `${name} ${shadows.length}`)).toEqual(["10-a 0", "20-b 1"]);
    expect(problems).toEqual([
      expect.stringContaining("a hook is named NN-name"),
      expect.stringContaining("done/80-save is built in"),
    ]);
  });
});
