import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

describe("npm run repeat", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "reports-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  type Result = "passed" | "failed";
  const report = (run: number, results: Readonly<Record<string, Result>>) => {
    const assertionResults = Object.entries(results).map(([title, status]) => ({ title, status }));
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
        "failed 1 of 2 times: a.test.ts > unsteady",
        "always fails: a.test.ts > broken",
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

  describe("with a window", () => {
    const quarantine = () => {
      const file = join(folder, "quarantine.txt");
      return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
    };
    /** Adds two runs at one commit. */
    const night = (commit: string, first: Readonly<Record<string, Result>>, second = first) => {
      report(1, first);
      report(2, second);
      const files = ["--window", join(folder, "window"), "--quarantine", join(folder, "quarantine.txt")];
      return repeat("--reports", folder, "--commit", commit, ...files);
    };

    it("puts a test into quarantine that failed and passed at one commit, never a broken one, until its failures are a hundred runs old", () => {
      const { status, lines } = night(
        "one",
        { unsteady: "failed", broken: "failed" },
        { unsteady: "passed", broken: "failed" },
      );
      expect(status).toBe(1);
      expect(lines).toContain("into quarantine, open an issue (failed 1 of the last 2 times): a.test.ts > unsteady");
      expect(quarantine()).toEqual(["a.test.ts > unsteady"]);
      // The broken test is mended: it failed at one commit and passed at another.
      const fine = { unsteady: "passed", broken: "passed" } as const;
      expect(night("two", fine)).toEqual({ status: 0, lines: ["2 runs, 0 unsteady or failing tests"] });
      expect(quarantine()).toEqual(["a.test.ts > unsteady"]);
      const window = join(folder, "window");
      const kept = JSON.parse(readFileSync(window, "utf8"));
      const steady = Array.from({ length: 95 }, () => ({ commit: "two", failed: [] }));
      writeFileSync(window, JSON.stringify([...kept, ...steady]));
      night("two", fine);
      expect(quarantine()).toEqual([]);
      expect(JSON.parse(readFileSync(window, "utf8"))).toHaveLength(100);
    });
  });
});
