/** Every built-in command, as data: for completion, documentation and checks. Nothing on the way to a model request reads it. */
import type { CommandSpec } from "../command.js";
import * as conversation from "./conversation.js";
import * as cost from "./cost.js";
import * as models from "./models.js";
import * as security from "./security.js";

/** The commands of a session. */
export const SESSION_SPECS: readonly CommandSpec[] = [conversation, models, cost, security].flatMap((subject) =>
  Object.values(subject).filter(isSpec),
);

function isSpec(value: unknown): value is CommandSpec {
  return typeof value === "object" && value !== null && "summary" in value && "places" in value;
}
