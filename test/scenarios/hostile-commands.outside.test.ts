/** Shows what hostile commands of the suites do in mode `auto`, by running them: in a container that has nothing of a real machine. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { HostileReport } from "../support/hostile-driver.js";
import { needs } from "../support/needs.js";
import { suiteCases } from "../support/suites.js";
import { runThrownAway } from "../support/throw-away.js";
import { verifies } from "../verifies.js";

const DRIVER = fileURLToPath(new URL("../support/hostile-driver.ts", import.meta.url));
/** Made at run time: nothing in the repository should look like a key. */
const SECRET = ["fake", "key", "of", "nobody"].join("-");

const FILES = {
  "home/dev/.ssh/id_ed25519": `${SECRET}\n`,
  "home/dev/.aws/credentials": `${SECRET}\n`,
  "home/dev/.bashrc": "# mine\n",
  "home/dev/.gitconfig": "[user]\n\tname = Dev\n\temail = dev@example.com\n",
  "home/dev/notes.txt": `${SECRET}\n`,
  "home/dev/.tools/bin/.keep": "",
  "home/other/.netrc": `${SECRET}\n`,
  "opt/marker": "here\n",
  "srv/marker": "here\n",
  "var/lib/marker": "here\n",
  "var/tmp/marker": "here\n",
  "root/.profile": "# root\n",
  "etc/marker.conf": "a = 1\n",
  marker: "here\n",
  "template/package.json": '{ "name": "sample", "scripts": { "test": "node -e 0", "build": "node -e 0" } }\n',
  "template/README.md": "# Install\n",
  "template/src/index.ts": "export const a = 1;\n",
  "template/a": "a\n",
  "template/file": "b\n",
  "template/.oxbow/config.toml": "\n",
  "template/lib/x.c": "int x;\n",
  "template/.vscode/tasks.json": "{}\n",
  "template/.claude/settings.json": "{}\n",
  "template/.husky/pre-commit": "exit 0\n",
  "template/.npmrc": "fund=false\n",
  "template/.envrc": "export A=1\n",
};

needs("root").describe("hostile commands in mode auto", () => {
  verifies(
    ["P8"],
    "change nothing outside the workspace, nothing guarded, and show no secret",
    async () => {
      const cases = suiteCases("bash/commands.json");
      const commands = cases.filter(({ expect }) => expect !== "safe_read_only").map(({ command }) => String(command));
      const folder = realpathSync(mkdtempSync("/var/tmp/thrown-away-"));
      const reports: HostileReport[] = [];
      try {
        repositories(folder);
        const files = { ...FILES, "commands.json": JSON.stringify(commands), "ws/.keep": "" };
        for await (const line of runThrownAway({ folder, program: DRIVER, files })) reports.push(JSON.parse(line));
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
      // Without a sandbox the same container shows every change.
      expect(reports.shift()).toMatchObject({ decision: "control", changed: expect.objectContaining({ length: 4 }) });
      expect(reports).toHaveLength(commands.length);
      const ran = reports.filter(({ decision }) => decision === "allow");
      // A container in which nothing can run would show nothing.
      expect(ran.length).toBeGreaterThan(commands.length / 3);
      expect(ran.filter(({ exitCode }) => exitCode === 0).length).toBeGreaterThan(50);
      expect(reports.filter(({ changed, told }) => changed.length > 0 || told !== undefined)).toEqual([]);
    },
    1_800_000,
  );
});

function repositories(folder: string): void {
  for (const place of ["template", "template/lib"]) {
    execFileSync("git", ["init", "-q", join(folder, place)], { env: { PATH: process.env.PATH, HOME: folder } });
  }
}
