/** The commands about tools: what they may do, what they did, and a shell command by a person. */
import type { Command } from "../../commands/command.js";
import { type Opening, runOf } from "../opening.js";
import { envCommand, modeCommand, shellCommand } from "./conversation.js";
import { permissionReplay } from "./permission-replay.js";
import { planCommands } from "./plan.js";
import { portCommands } from "./ports.js";

export async function toolPartCommands(opening: Opening): Promise<readonly Command[]> {
  const run = runOf(opening);
  const { security, permissions, sandbox } = opening.built.all();
  const { sessions, variables, loaded, withheld } = opening.engine;
  return [
    ...(await security.commands()),
    ...planCommands({ run, isOn: () => permissions.planning, person: run.bus.originator }),
    permissionReplay({ sessions, permissions, tools: run.tools }),
    modeCommand({
      run,
      mode: () => (permissions.planning ? "plan" : permissions.mode),
      person: run.bus.originator,
    }),
    ...portCommands(() => sandbox.ports()),
    envCommand({ variables, atHome: withheld, policy: loaded.settings.environment.value }),
    shellCommand({ run, root: opening.root, refusalOf: (command) => security.refusalOf(command) }),
  ];
}
