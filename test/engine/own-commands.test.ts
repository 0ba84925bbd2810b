/** Commands of Oxbow that are for people only, in a command of a model that removes the variable by which Oxbow knows an agent. */
import { expect } from "vitest";
import { COMMANDS } from "../../src/cli/command-table.js";
import { mayUse } from "../../src/feature/command.js";
import { PROGRAM_SPECS, SESSION_SPECS } from "../../src/runtime/commands/catalogue.js";
import { readCommand } from "../../src/security/permissions/read-command.js";
import { verifies } from "../verifies.js";

verifies(["P4"], "are refused by their text, under every name", () => {
  const forPeople = [...PROGRAM_SPECS, ...SESSION_SPECS].filter(
    (spec) =>
      spec.places.includes("without a session") && !mayUse(spec, "agents") && !mayUse(spec, "agents in the shell"),
  );
  const lines = forPeople.flatMap(({ name, aliases = [] }) =>
    [name, ...aliases].flatMap((each) => {
      const [first = "", ...rest] = each.split(":");
      const command = COMMANDS.find((known) => known.name === first || known.aliases?.includes(first));
      const names = command === undefined ? [] : [command.name, ...(command.aliases ?? [])];
      return names.map((word) => [word, ...rest].join(" "));
    }),
  );
  expect(lines.length).toBeGreaterThan(50);
  const texts = lines.flatMap((line) => [
    `env -u OXBOW_AGENT oxbow ${line} x`,
    `node /opt/oxbow/dist/bin.js ${line} x`,
  ]);
  expect(texts.filter((text) => readCommand(text, { workspace: "/w" }).verdict !== "blocked")).toEqual([]);
  for (const text of ["oxbow session list", "oxbow models", "oxbow doctor", "oxbow mcp list"])
    expect([text, readCommand(text, { workspace: "/w" }).verdict]).toEqual([text, "ask"]);
});
