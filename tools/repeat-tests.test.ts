import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

describe("npm run repeat", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "reports-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const report = (run: number, results: Readonly<Record<string, "passed" | "failed">>) => {
    const assertionResults = Object.entries(results).map(([fullName, status]) => ({ fullName, status }));
    const status = Object.values(results).includes("failed") ? "failed" : "passed";
    const testResults = [{ name: "a.test.ts", status, assertionResults }];
    writeFileSync(join(folder, `${run}.json`), JSON.stringify({ testResults }));
  };
  const repeat = (...args: string[]) => {
    const { status, stdout } = spawnSync(process.execPath, ["tools/repeat-tests.mjs", ...args], { encoding: "utf8" });
    return { status, lines: stdout.trim().split("\n") };
  };

  it("names the tests that fail now and then, and those that always fail", () => {
    report(1, { steady: "passed", unsteady: "failed", broken: "failed" });
    report(2, { steady: "passed", unsteady: "passed", broken: "failed" });
    expect(repeat("--reports", folder)).toEqual({
      status: 1,
      lines: [
        "failed 1 of 2 times: a.test.ts: unsteady",
        "always fails: a.test.ts: broken",
        "2 runs, 2 unsteady or failing tests",
      ],
    });
  });

  it("is content with tests that pass each time, and never with no run at all", () => {
    expect(repeat("--reports", folder).status).toBe(1);
    report(1, { steady: "passed" });
    expect(repeat("--reports", folder)).toEqual({ status: 0, lines: ["1 run, 0 unsteady or failing tests"] });
    expect(repeat("--runs", "none").status).toBe(2);
  });
});
