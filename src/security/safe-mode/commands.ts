/** `/safemode`, also as `/permissions safemode`. */
import {
  type Command,
  type CommandOf,
  EVERYWHERE,
  READERS,
  refuse,
  type Subject,
  withPort,
} from "../../feature/command.js";
import type { Flag } from "../../feature/flags.js";
import type { StateFile } from "../permissions/state-file.js";
import type { SafeModeAction, SafeModeState } from "./safe-mode.js";

/** The flags of all commands of `oxbow permissions`. */
export const PERMISSION_FLAGS: readonly Flag[] = [
  {
    name: "permission-mode",
    value: "MODE",
    choices: ["auto", "review", "ask", "allow", "deny"],
    help: "decide as a run with this mode would",
  },
  { name: "strict-permissions", help: "decide as a run with this flag would" },
  { name: "cwd", value: "DIR", complete: "folder", help: "the workspace (default: the current folder)" },
  { name: "store", value: "STORE", help: "where 'replay' finds the session" },
];

/** Changes apply to all sessions of the folder. */
const command = (
  action: SafeModeAction,
  summary: string,
  more: Partial<CommandOf<StateFile<SafeModeState>>> = {},
): CommandOf<StateFile<SafeModeState>> => ({
  name: `safemode:${action}`,
  summary,
  shellFlags: PERMISSION_FLAGS,
  places: EVERYWHERE,
  run: async (args, file) => {
    const { changeSafeMode } = await import("./safe-mode.js");
    const reply = await changeSafeMode(action, args.text("PROGRAM") ?? "", file);
    return reply.ok ? { text: reply.text, value: { ...reply.state } } : refuse(reply.text);
  },
  ...more,
  aliases: [`permissions:safemode:${action}`, ...(more.aliases ?? [])],
});

const PROGRAM = { arguments: [{ name: "PROGRAM", kind: "text", complete: "program" }] } as const;

const COMMANDS = [
  command("status", "show whether safe mode is on, and its list (the default)", {
    aliases: ["safemode", "permissions:safemode"],
    reaches: "session",
    users: READERS,
  }),
  command("on", "switch safe mode on"),
  command("off", "switch safe mode off"),
  command("allow", "add a program to the list", PROGRAM),
  command("deny", "remove a program from the list", PROGRAM),
  command("reset", "switch safe mode off and restore the built-in list"),
];

export const subject: Subject = {
  name: "safemode",
  summary: "run only listed commands, for you and for the model",
  heading: "Permissions",
  specs: COMMANDS,
};

export function safeModeCommands(file: () => Promise<StateFile<SafeModeState>>): readonly Command[] {
  return withPort(COMMANDS, file);
}
