/** The commands that the line client runs itself, by name and alias. */
import type { ClientAction } from "../base/client-action.js";
import { CANCEL, CLEAR, EXIT_COMMAND, QUEUE } from "../commands/catalogue/conversation.js";

const ACTIONS = new Map<string, ClientAction>(
  (
    [
      [CANCEL, "cancel"],
      [CLEAR, "clear"],
      [EXIT_COMMAND, "exit"],
      [QUEUE, "queue"],
    ] as const
  ).flatMap(([{ name, aliases = [] }, action]) => [name, ...aliases].map((each) => [each, action] as const)),
);

export function clientAction(name: string): ClientAction | undefined {
  return ACTIONS.get(name);
}
