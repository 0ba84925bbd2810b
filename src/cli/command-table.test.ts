import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { type CommandSpec, namespaceOf, worksOn } from "../feature/command.js";
import { PROGRAM_SPECS, programSummary, SESSION_SPECS } from "../runtime/commands/catalogue.js";
import { COMMANDS } from "./command-table.js";

async function shellSpecs(): Promise<ReadonlyMap<string, readonly CommandSpec[]>> {
  const shells = await Promise.all(COMMANDS.map(async ({ load }) => (await load()).shell));
  return new Map(shells.flatMap((shell) => (shell === undefined ? [] : [[shell.name, shell.specs] as const])));
}

const STARTING_A_RUN: readonly string[] = ["run", "resume", "attach"];

describe("the commands of the program", () => {
  verifies(["U6"], "are those of a conversation, each defined once", async () => {
    const specs = [...SESSION_SPECS, ...PROGRAM_SPECS];
    // `/run COMMAND` and `oxbow run PROMPT` are two: no surface has both.
    for (const surface of ["slash", "shell"] as const) {
      const names = specs.filter((spec) => worksOn(spec, { surface })).map(({ name }) => name);
      expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    }
    const byName = new Map(
      specs.filter((spec) => worksOn(spec, { surface: "shell" })).map((spec) => [spec.name, spec]),
    );
    const shells = await shellSpecs();
    for (const [shell, own] of shells) {
      for (const spec of own) {
        const known = byName.get(spec.name);
        expect({ ...spec, shellFlags: [] }, `oxbow ${shell}`).toEqual({ ...known, shellFlags: [] });
      }
    }
    // These start a run, and describe themselves to completion without being loaded.
    const offered = new Set([...STARTING_A_RUN, ...[...shells.values()].flat().map(({ name }) => name)]);
    for (const { name, places } of specs) {
      if (places.includes("without a session")) expect(offered, name).toContain(name);
    }
  });

  verifies(["U6", "U10"], "all have a description in the catalogue, which help and completion use", async () => {
    for (const { name, load } of COMMANDS) {
      expect(programSummary(name), name).toMatch(/\w/);
      if (!STARTING_A_RUN.includes(name)) expect((await load()).shell?.name).toBe(name);
    }
    // A conversation has a /run of its own.
    expect(programSummary("run")).toBe(PROGRAM_SPECS.find(({ name }) => name === "run")?.summary);
  });

  verifies(["U6"], "stand under the name of their namespace, and no two names are the same", async () => {
    for (const [shell, specs] of await shellSpecs()) {
      for (const { name, aliases = [] } of specs) {
        const first = [name, ...aliases].map((each) => namespaceOf(each) ?? each);
        expect(first, name).toContain(shell);
      }
    }
    const names = SESSION_SPECS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
  });
});
