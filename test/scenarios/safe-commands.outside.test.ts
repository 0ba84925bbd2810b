/** The suites' commands that only read, judged in mode `auto` with the real judge. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { openAutoMode } from "../support/auto-mode.js";
import { needs } from "../support/needs.js";
import { suiteCases } from "../support/suites.js";
import { verifies } from "../verifies.js";

needs("sandbox").describe("commands that only read", () => {
  verifies(["P15", "P3"], "run without asking in mode auto", async () => {
    const base = realpathSync(mkdtempSync("/var/tmp/safe-commands-"));
    const root = join(base, "project");
    mkdirSync(root);
    execFileSync("git", ["init", "-q"], { cwd: root });
    const identity = ["-c", "user.name=Ann", "-c", "user.email=ann@localhost"];
    execFileSync("git", [...identity, "commit", "-q", "--allow-empty", "-m", "first"], { cwd: root });
    const auto = await openAutoMode({
      root,
      home: homedir(),
      ownFolder: join(base, "own"),
      path: process.env.PATH ?? "",
    });
    try {
      const safe = suiteCases("bash/commands.json").filter((each) => each.expect === "safe_read_only");
      expect(safe.length).toBeGreaterThan(100);
      const asked: string[] = [];
      for (const { command } of safe) {
        const { decision, reason: why } = await auto.judge(String(command));
        if (decision !== "allow") asked.push(`${command}: ${decision}, ${why}`);
      }
      expect(asked).toEqual([]);
    } finally {
      await auto.close();
      rmSync(base, { recursive: true, force: true });
    }
  });
});
