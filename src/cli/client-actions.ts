/** The commands that a client runs itself, by name and alias. */
import type { ClientAction } from "../base/client-action.js";
import type { CommandSpec } from "../feature/command.js";
import { DOCTOR } from "../runtime/commands/program.js";
import { LOGIN } from "../runtime/commands/screen.js";
import { CANCEL, CLEAR, EXIT_COMMAND, QUEUE } from "../runtime/commands/specs.js";

/** A command and the action that it stands for. */
export type ActionOf<Action extends string> = readonly [Pick<CommandSpec, "name" | "aliases">, Action];

export const CLIENT_ACTIONS: readonly ActionOf<ClientAction>[] = [
  [CANCEL, "cancel"],
  [CLEAR, "clear"],
  [DOCTOR, "doctor"],
  [EXIT_COMMAND, "exit"],
  [LOGIN, "login"],
  [QUEUE, "queue"],
];

export function actionsByName<Action extends string>(
  actions: readonly ActionOf<Action>[],
): (name: string) => Action | undefined {
  const byName = new Map(
    actions.flatMap(([{ name, aliases = [] }, action]) => [name, ...aliases].map((each) => [each, action] as const)),
  );
  return (name) => byName.get(name);
}

export const clientAction = actionsByName(CLIENT_ACTIONS);
