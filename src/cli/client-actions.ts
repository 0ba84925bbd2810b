/** The commands that a client runs itself, by name and alias. */
import type { ClientAction } from "../base/client-action.js";
import { CANCEL, CLEAR, EXIT_COMMAND, QUEUE } from "../commands/catalogue/conversation.js";
import { DOCTOR } from "../commands/catalogue/program.js";
import { LOGIN } from "../commands/catalogue/screen.js";
import type { CommandSpec } from "../commands/command.js";

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
