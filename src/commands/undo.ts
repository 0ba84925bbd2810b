/** `/undo` (feature T10); `/unapply` is another name for it. */
import type { SlashCommand } from "./registry.js";

const undo: SlashCommand = {
  name: "undo",
  // It writes files, and nobody is asked again.
  forPeople: true,
  usage: "/undo [TURN | redo] [yes]",
  summary: "show what the last turn that changed files did to them, and with 'yes' take it back",
  run: (args, context) => context.undo(args),
};

export const undoCommands: readonly SlashCommand[] = [
  undo,
  { ...undo, name: "unapply", usage: "/unapply …", summary: "the same as /undo" },
];
