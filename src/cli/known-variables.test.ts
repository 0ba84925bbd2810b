import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { verifies } from "../../test/verifies.js";
import { keepEnvironment, OF_ENGINE, unlikeEngine } from "../runtime/engine-environment.js";
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
});
