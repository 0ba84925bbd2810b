/** Programs of a project that PATH names, as `npm exec` does: Oxbow never takes one of its own programs from there. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const NAMES =
  "bash sh env git rg bwrap socat mkfifo ps grep cat ls id stty sleep script secret-tool notify-send systemd-run".split(
    " ",
  );

verifies(
  ["P3", "P8"],
  "are not run for Oxbow itself or for reading, also from the folder above the workspace",
  async () => {
    const top = await temporaryFolder();
    const mark = join(await temporaryFolder(), "ran");
    const bin = join(top, "node_modules/.bin");
    await mkdir(bin, { recursive: true });
    for (const name of NAMES) {
      const program = `#!/bin/sh\necho ${name} >> ${mark}\nexec /usr/bin/${name} "$@"\n`;
      await writeFile(join(bin, name), program);
      await chmod(join(bin, name), 0o755);
    }
    execFileSync("git", ["init", "-q"], { cwd: top });
    const cwd = join(top, "packages/a");
    await mkdir(cwd, { recursive: true });
    await writeFile(join(cwd, "a.txt"), "a\n");
    const mock = await startMockModel({
      script: script([
        reply().tool("bash", { command: "ls && cat a.txt" }),
        reply().tool("bash", { command: "git status" }),
        reply().tool("grep", { pattern: "a" }),
        reply().text("Done."),
      ]),
    });
    try {
      const env = { PATH: `${bin}:${process.env.PATH}`, ...providerEnvironment("anthropic", mock.url) };
      expect(await oxbow(["run", "go"], { cwd, env })).toMatchObject({ code: 0, stdout: "Done.\n" });
    } finally {
      await mock.close();
    }
    expect(existsSync(mark)).toBe(false);
  },
);
