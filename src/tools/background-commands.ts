/** `/background`: the commands that the model left running, their output, and their end. */
import { formatDuration } from "../base/duration.js";
import { safeLine, safeText } from "../base/terminal-text.js";
import { asValue, type CommandOf, IN_SESSION, refuse } from "../feature/command.js";
import type { BackgroundCommands } from "./background.js";

const ID = { name: "ID", kind: "text" } as const;

export const BACKGROUND_COMMANDS: readonly CommandOf<BackgroundCommands>[] = [
  {
    name: "background:list",
    aliases: ["background"],
    summary: "the commands that run in the background, and those that ended",
    reaches: "session",
    places: IN_SESSION,
    run: (_args, commands) => {
      const listed = commands.facts();
      const lines = listed.map(({ id, command, state }) => `${id}  ${state}  ${safeLine(command)}`);
      return { text: lines.join("\n") || "No command runs in the background.", value: asValue(listed) };
    },
  },
  {
    name: "background:output",
    summary: "the last output of a background command",
    arguments: [ID],
    reaches: "session",
    places: IN_SESSION,
    run: (args, commands) => {
      const entry = commands.find(args.text("ID") ?? "");
      if (entry === undefined) return unknown(args.text("ID"), commands);
      // The file and not the window of the model: what a person looks at stays new for the model.
      const output = entry.file.readEnd();
      const text = safeText(output) || "No output yet.";
      return { text: `${text.trimEnd()}\n\n${entry.file.describe()}`, value: { id: entry.id, output } };
    },
  },
  {
    name: "background:stop",
    aliases: ["background:kill"],
    summary: "end a background command with all its processes",
    arguments: [ID],
    reaches: "session",
    places: IN_SESSION,
    run: async (args, commands) => {
      const entry = commands.find(args.text("ID") ?? "");
      if (entry === undefined) return unknown(args.text("ID"), commands);
      if (entry.end !== undefined) return refuse(`${entry.id} has ended already.`);
      await entry.process.stop();
      const time = formatDuration(commands.runningFor(entry));
      return { text: `${entry.id} is stopped after ${time}.`, value: { stopped: entry.id } };
    },
  },
];

function unknown(id: string | undefined, commands: BackgroundCommands) {
  const known = commands.list().map((entry) => entry.id);
  return refuse(`There is no background command "${id}". Known: ${known.join(", ") || "none"}.`);
}
