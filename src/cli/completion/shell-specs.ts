/** The commands that `oxbow NAME` takes, for completion: completion has no separate table. */

import type { CommandSpec } from "../../feature/command.js";
import { ATTACH, RESUME, RUN } from "../../runtime/commands/program.js";
import { COMMANDS } from "../command-table.js";
import { RUN_FLAGS } from "../commands/run-flags.js";
import { commonFlags } from "../shell-command.js";

/** The user waits for the completion, so it does not load the large modules of these commands. */
const STARTING_A_RUN = [RUN, RESUME, ATTACH].map((spec) => ({ ...spec, shellFlags: RUN_FLAGS }));

/** The commands that a first word stands for. A word that names none begins a prompt with its flags. */
export async function specsOf(first: string): Promise<readonly CommandSpec[]> {
  const known = COMMANDS.find(({ name, aliases }) => name === first || aliases?.includes(first));
  const starting = STARTING_A_RUN.filter(({ name }) => name === (known?.name ?? RUN.name));
  if (known === undefined || starting.length > 0) return starting;
  const { shell } = await known.load();
  if (shell === undefined) throw new Error(`oxbow ${known.name} has no description`);
  return shell.specs
    .filter(({ places }) => places.includes("without a session"))
    .map((each) => ({ ...each, shellFlags: [...(each.shellFlags ?? []), ...commonFlags(shell)] }));
}
