/** Takes over what a SessionStart hook wrote to `CLAUDE_ENV_FILE`. */
import { safeLine } from "../../../base/terminal-text.js";
import { readEnvironmentFile } from "../../../extensions/hooks/environment-file.js";
import { addedValue } from "../../../tools/child-environment.js";
import type { HookVariables, VariableOwner } from "../hook-variables.js";

const SHOWN_CHARACTERS = 60;

export interface WrittenEnvironment {
  readonly text: string;
  readonly owner: VariableOwner;
  /** The environment of commands without hooks. */
  readonly known: Readonly<Record<string, string>>;
}

/** Returns messages about what was left out. */
export function takeEnvironment(
  variables: HookVariables,
  { text, owner, known }: WrittenEnvironment,
): readonly string[] {
  const before = Object.entries({ ...known, ...variables.of(owner === "user" ? "user" : "all") });
  const { values, ignored } = readEnvironmentFile(
    text,
    Object.fromEntries(before.filter((entry): entry is [string, string] => entry[1] !== undefined)),
  );
  const refused: string[] = [];
  for (const [name, value] of values) {
    const added = addedValue(name, value ?? "");
    if (added === undefined || (name === "PATH" && value === undefined)) refused.push(name);
    else variables.set(owner, name, value === undefined ? undefined : added);
  }
  // Without values: they may be secret.
  const names = ignored.map((statement) => safeLine(statement.split("=")[0] ?? "").slice(0, SHOWN_CHARACTERS));
  return [
    ...(refused.length === 0 ? [] : [`these variables were not added for commands: ${refused.join(", ")}`]),
    ...(ignored.length === 0 ? [] : [`only variables are read, nothing is run; left out: ${names.join(" | ")}`]),
  ];
}
