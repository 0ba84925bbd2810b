/**
 * Finds out what an undo would do, without doing any of it.
 *
 * 1. An entry is `ready` only when the file is as the tools left it: then an undo loses no other work.
 * 2. Nothing is removed or replaced that could not be put back by undoing the undo.
 * 3. The plan lists what cannot be undone, with the reason, and what is unknown.
 */
import { realpathSync } from "node:fs";
import type { SessionId, TurnId } from "../../protocol/ids.js";
import { shownPath } from "../../system/path-bytes.js";
import { StoreError } from "../store.js";
import { finishUndo } from "./apply.js";
import type { Group, TurnGroup } from "./history.js";
import type { UndoJournal } from "./journal.js";
import { ItemPlanner, type UndoItem } from "./plan-items.js";
import { nameOf, selectGroups, type UndoChoice } from "./selection.js";

export interface UndoPlanOptions extends UndoChoice {
  /** Where the session worked. */
  readonly workspaceRoot: string;
}

/** Plain data. */
export interface UndoPlan {
  readonly session: SessionId;
  readonly root: string;
  readonly redo: boolean;
  /** The groups to revert. */
  readonly of: readonly string[];
  /** The turns this is about. */
  readonly turns: readonly { readonly id: TurnId; readonly number?: number; readonly at: number }[];
  readonly items: readonly UndoItem[];
  /** What undo does not cover, as sentences. */
  readonly notes: readonly string[];
  /** How much the journal said: the plan is for this state of it alone. */
  readonly basis: number;
}

/** Throws a StoreError: `not-found` when there is nothing to undo, `busy` while a tool of the session runs, `conflict` if it completed another undo. */
export async function planUndo(journal: UndoJournal, options: UndoPlanOptions): Promise<UndoPlan> {
  if (journal.isInUse)
    throw new StoreError("busy", "A tool of this session is running. Wait until it ends, or stop it.");
  if (await finishUndo(journal))
    throw new StoreError("conflict", "An undo was cut off before. It is complete now: undo again to go further back.");
  const root = realRoot(options.workspaceRoot);
  const history = journal.history();
  const { groups } = history;
  const selection = selectGroups(groups, options);
  const { items, keptFolders } = new ItemPlanner(journal, { root, selection }).plan();
  const turns = turnsOf(groups, selection.chosen);
  return {
    session: journal.session,
    root,
    redo: options.redo === true,
    of: selection.chosen.map((group) => group.id),
    turns: turns.map(({ id, number, at }) => ({ id, at, ...(number !== undefined && { number }) })),
    items,
    notes: planNotes({ turns, keptFolders, root, workedIn: history.opening?.root }),
    basis: history.length,
  };
}

interface NotesOptions {
  readonly turns: readonly TurnGroup[];
  readonly keptFolders: readonly string[];
  readonly root: string;
  /** Where the session worked, as the journal has it. */
  readonly workedIn: string | undefined;
}

/** What a tool did and nothing recorded. */
export function gapNotes(turns: readonly TurnGroup[]): readonly string[] {
  return turns.flatMap((turn) =>
    turn.calls.flatMap(({ tool, gaps }) => gaps.map((gap) => `${nameOf(turn)}, ${tool}: ${gap}.`)),
  );
}

/** The tools that ran commands, by name. */
export function commandsOf(turns: readonly TurnGroup[]): string {
  return [...new Set(turns.flatMap(({ calls }) => calls).flatMap(({ command, tool }) => (command ? [tool] : [])))].join(
    ", ",
  );
}

function planNotes({ turns, keptFolders, root, workedIn }: NotesOptions): readonly string[] {
  const notes: string[] = [];
  if (workedIn !== undefined && workedIn !== root)
    notes.push(`The session worked in ${workedIn}; this is for ${root}.`);
  notes.push(...gapNotes(turns));
  const commands = commandsOf(turns);
  if (commands !== "") {
    notes.push(
      `Undo covers only what ${commands} changed in files of the workspace: not changes outside it, in .git or ` +
        "in ignored folders.",
    );
  }
  for (const folder of keptFolders) notes.push(`The folder ${shownPath(folder)} stays: it holds other files.`);
  return [...new Set(notes)];
}

/** A redo is about the turns that its undo was about. */
function turnsOf(groups: readonly Group[], chosen: readonly Group[]): readonly TurnGroup[] {
  const ids = new Set(chosen.flatMap((group) => (group.is === "turn" ? [group.id as string] : group.of)));
  return groups.filter((group): group is TurnGroup => group.is === "turn" && ids.has(group.id));
}

/** A command may have removed the workspace itself. */
export function realRoot(root: string): string {
  try {
    return realpathSync(root);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return root;
  }
}
