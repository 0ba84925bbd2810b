/** Every built-in command, as data: for completion, documentation and checks. The path to a model request does not read it. */
import type { CommandSpec } from "../command.js";
import * as conversation from "./conversation.js";
import * as cost from "./cost.js";
import * as credentials from "./credentials.js";
import * as models from "./models.js";
import * as screen from "./screen.js";
import * as security from "./security.js";
import * as sessions from "./sessions.js";

/** The commands of a session. */
export const SESSION_SPECS: readonly CommandSpec[] = [
  conversation,
  sessions,
  models,
  cost,
  credentials,
  security,
  screen,
].flatMap((subject) => Object.values(subject).filter(isSpec));

function isSpec(value: unknown): value is CommandSpec {
  return typeof value === "object" && value !== null && "summary" in value && "places" in value;
}
