import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { askRunner } from "./suites.mjs";

const TOOL = fileURLToPath(new URL("../suites.mjs", import.meta.url));

it("says plainly that there are no suites, which is not a failure", async () => {
  const env = { ...process.env, OXBOW_SUITES: "/nowhere/at/all" };
  const { stdout } = await promisify(execFile)(process.execPath, [TOOL], { env });
  expect(stdout).toContain("No suites at /nowhere/at/all");
});

it("removes the folders that a runner leaves behind", async () => {
  const base = await mkdtemp(join(tmpdir(), "oxbow-test-"));
  try {
    const runner = join(base, "run.mjs");
    await writeFile(
      runner,
      `import fs from "node:fs"; import os from "node:os";
      const made = fs.mkdtempSync(os.tmpdir() + "/suite-");
      console.log(JSON.stringify({ made, there: fs.existsSync(made) }));`,
    );
    const report = { made: expect.stringContaining(join(base, "oxbow-suites-")), there: true };
    expect(await askRunner(runner, "sse", base)).toEqual(report);
    expect(await readdir(base)).toEqual(["run.mjs"]);
  } finally {
    await rm(base, { recursive: true, force: true });
  }
});
