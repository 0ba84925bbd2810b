import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const TOOL = fileURLToPath(new URL("../suites.mjs", import.meta.url));

it("says plainly that there are no suites, which is not a failure", async () => {
  const env = { ...process.env, OXBOW_SUITES: "/nowhere/at/all" };
  const { stdout } = await promisify(execFile)(process.execPath, [TOOL], { env });
  expect(stdout).toContain("No suites at /nowhere/at/all");
});
