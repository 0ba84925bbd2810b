/** What `oxbow NAME` takes, for completion: as its module says it, so completion has no table of its own. */
import type { CommandSpec } from "../../commands/command.js";
import { type CliModule, COMMANDS } from "../command-table.js";
import { RUN_FLAGS } from "../commands/run-flags.js";
import { COMMON } from "../shell-command.js";

/** The commands that a first word stands for. A word that names none begins a prompt with its flags. */
export async function specsOf(first: string): Promise<readonly CommandSpec[]> {
  const known = COMMANDS.find(({ name, aliases }) => name === first || aliases?.includes(first));
  // The module of `run` is large, and a person waits.
  if (known === undefined || known.name === "run") return [spec("run", { FLAGS: RUN_FLAGS })];
  const module = await known.load();
  if (module.shell === undefined) return [spec(known.name, module)];
  return module.shell.specs
    .filter(({ places }) => places.includes("without a session"))
    .map((each) => ({ ...each, shellFlags: [...(each.shellFlags ?? []), ...COMMON] }));
}

function spec(name: string, { FLAGS = [], ARGUMENTS = [] }: Pick<CliModule, "FLAGS" | "ARGUMENTS">): CommandSpec {
  const places = ["without a session"] as const;
  return { name, summary: "", arguments: ARGUMENTS, shellFlags: FLAGS, users: ["people"], places };
}
