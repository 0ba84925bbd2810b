import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { verifies } from "../../test/verifies.js";
import type { Setting } from "../feature/setting.js";
import { keepEnvironment, OF_ENGINE, unlikeEngine } from "../runtime/engine-environment.js";
import type { LogLevels } from "../system/log.js";
import { KNOWN_VARIABLES } from "./known-variables.js";

describe("the variables", () => {
  verifies(["C10"], "of the engine are those that a terminal compares with it", async () => {
    const declared = KNOWN_VARIABLES.flatMap(({ name, holds }) => (holds === "engine" ? [name] : []));
    expect([...OF_ENGINE].sort()).toEqual(declared.sort());
  });

  for (const { name, holds = "session" } of KNOWN_VARIABLES) {
    verifies(["C10"], `${name} holds for ${holds}`, async () => {
      const state = mkdtempSync(join(tmpdir(), "engine-"));
      onTestFinished(() => rmSync(state, { recursive: true }));
      await keepEnvironment({ state }, { [name]: "one" });
      expect(unlikeEngine({ state }, { [name]: "one" })).toEqual([]);
      const differs = holds === "engine" ? [name] : [];
      expect(unlikeEngine({ state }, { [name]: "two" })).toEqual(differs);
      expect(unlikeEngine({ state }, {})).toEqual(differs);
    });
  }

  verifies(
    ["C10"],
    "and settings that hold for the engine are compared with its own, and a flag of the engine is not",
    async () => {
      const state = mkdtempSync(join(tmpdir(), "engine-"));
      onTestFinished(() => rmSync(state, { recursive: true }));
      const settings = (days: number, level: string, origin = "default") => ({
        retention_days: { value: days, origin: "/config.toml (retention_days)" },
        log: { value: { standard: level, byComponent: new Map([["engine", level]]) }, origin } as Setting<LogLevels>,
      });
      await keepEnvironment({ state }, { OXBOW_LOG: "info" }, settings(30, "info", "OXBOW_LOG"));
      const unlike = (log: string, ...wanted: Parameters<typeof settings>) =>
        unlikeEngine({ state }, { OXBOW_LOG: log }, settings(...wanted));
      expect(unlike("info", 30, "info", "OXBOW_LOG")).toEqual([]);
      expect(unlike("info", 7, "info", "OXBOW_LOG")).toEqual(["retention_days"]);
      expect(unlike("debug", 30, "debug", "OXBOW_LOG")).toEqual(["OXBOW_LOG"]);
      expect(unlike("info", 30, "debug", "/config.toml (log)")).toEqual(["log"]);

      await keepEnvironment({ state }, { OXBOW_LOG: "info" }, settings(30, "debug", "--log-level"));
      expect(unlike("info", 30, "info", "OXBOW_LOG")).toEqual([]);
    },
  );
});
