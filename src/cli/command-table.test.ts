import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { SESSION_SPECS } from "../commands/catalogue/index.js";
import { type CommandSpec, namespaceOf } from "../commands/command.js";
import { COMMANDS } from "./command-table.js";

async function shellSpecs(): Promise<ReadonlyMap<string, readonly CommandSpec[]>> {
  const shells = await Promise.all(COMMANDS.map(async ({ load }) => (await load()).shell));
  return new Map(shells.flatMap((shell) => (shell === undefined ? [] : [[shell.name, shell.specs] as const])));
}

describe("the commands of the program", () => {
  verifies(["U6"], "are those of a conversation, each defined once", async () => {
    const byName = new Map(SESSION_SPECS.map((spec) => [spec.name, spec]));
    expect(byName.size).toBe(SESSION_SPECS.length);
    const shells = await shellSpecs();
    for (const [shell, specs] of shells) {
      for (const spec of specs) {
        const known = byName.get(spec.name) ?? spec;
        expect({ ...spec, shellFlags: [] }, `oxbow ${shell}`).toEqual({ ...known, shellFlags: [] });
      }
    }
    const offered = new Set([...shells.values()].flat().map(({ name }) => name));
    for (const { name, places } of SESSION_SPECS) {
      if (places.includes("without a session")) expect(offered, name).toContain(name);
    }
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
