/** The commands that the terminal client runs itself, by name and alias. */
import type { ScreenAction } from "../../base/client-action.js";
import type { CommandSpec } from "../../feature/command.js";
import { WEB } from "../../runtime/commands/engine.js";
import * as screen from "../../runtime/commands/screen.js";
import { RESUME_HERE, SESSION_LIST, SESSION_RESUME, UNDO } from "../../runtime/commands/sessions/specs.js";
import { MODEL } from "../../runtime/commands/specs.js";
import { actionsByName, CLIENT_ACTIONS } from "../client-actions.js";

export const screenAction: (name: string) => ScreenAction | undefined = actionsByName<ScreenAction>([
  ...CLIENT_ACTIONS,
  [screen.APPROVE, "approve"],
  [screen.COPY, "copy"],
  [screen.KEYS, "keys"],
  [screen.REWIND, "rewind"],
  [screen.SETTINGS, "settings"],
  [screen.SIDEBAR, "sidebar"],
  [screen.STATUSLINE, "statusline"],
  [screen.THEME, "theme"],
  [screen.TRANSCRIPT, "transcript"],
  [MODEL, "model"],
  [RESUME_HERE, "sessions"],
  [SESSION_RESUME, "sessions"],
  [shortNames(SESSION_LIST), "sessions"],
  [UNDO, "undo"],
  [WEB, "web"],
]);

/** `/sessions` opens the list to choose from; `/sessions:list` prints it. */
function shortNames({ name, aliases = [] }: CommandSpec): Pick<CommandSpec, "name" | "aliases"> {
  const [first = name, ...others] = aliases.filter((alias) => !alias.includes(":"));
  return { name: first, aliases: others };
}
