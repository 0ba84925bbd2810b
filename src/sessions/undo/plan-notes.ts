/** The notes of a plan about what it does not cover. */
import { shownPath } from "../../system/path-bytes.js";
import type { TurnGroup } from "./history.js";
import { nameOf } from "./selection.js";

export interface NotesOptions {
  readonly turns: readonly TurnGroup[];
  readonly keptFolders: readonly string[];
  readonly root: string;
  /** Where the session worked, as the journal has it. */
  readonly workedIn: string | undefined;
}

export function planNotes({ turns, keptFolders, root, workedIn }: NotesOptions): readonly string[] {
  const notes: string[] = [];
  if (workedIn !== undefined && workedIn !== root)
    notes.push(`The session worked in ${workedIn}; this is for ${root}.`);
  for (const turn of turns) {
    for (const { tool, gaps } of turn.calls) {
      for (const gap of gaps) notes.push(`${nameOf(turn)}, ${tool}: ${gap}.`);
    }
  }
  const commands = new Set(turns.flatMap((turn) => turn.calls).flatMap(({ command, tool }) => (command ? [tool] : [])));
  if (commands.size > 0) {
    notes.push(
      `Undo covers only what ${[...commands].join(", ")} changed in files of the workspace: not changes outside it, in .git or ` +
        "in ignored folders.",
    );
  }
  for (const folder of keptFolders) notes.push(`The folder ${shownPath(folder)} stays: it holds other files.`);
  return [...new Set(notes)];
}
