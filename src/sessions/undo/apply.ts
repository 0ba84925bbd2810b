/**
 * Carries out an undo plan.
 *
 * 1. All of it or nothing: with a conflict, or when something changed since the plan was made, nothing is touched; when a
 *    step fails, the earlier ones are reverted.
 * 2. What goes is in the journal before the first file changes, and so is what is to be done. After a crash each entry is as
 *    it was or as planned, and planning the same undo again finishes it.
 * 3. The undo is in the journal like a turn: it can be undone (redo), and the next undo goes one turn further back.
 */

import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { shownPath } from "../../system/path-bytes.js";
import { StoreError } from "../store.js";
import { type Change, sameState } from "./entry-state.js";
import type { UndoGroup } from "./history.js";
import type { UndoJournal } from "./journal.js";
import type { UndoPlan } from "./plan.js";
import type { UndoItem } from "./plan-items.js";
import { presentAt } from "./present.js";
import { isExchange, type RestoreOptions, removeTemporary, restore, type Step } from "./restore.js";

export interface ApplyUndoOptions {
  /** Leaves the entries with a conflict as they are and does the rest. */
  readonly skipConflicts?: boolean;
  /** Why a change of a path needs the user's yes; undefined for an ordinary one. Relative to the workspace or absolute. */
  guarded?(path: string): Promise<string | undefined>;
  /** The guarded paths that the user allowed. */
  readonly granted?: readonly string[];
}

export interface UndoResult {
  readonly done: readonly UndoItem[];
  /** Conflicts that were skipped, and what cannot be undone. */
  readonly left: readonly UndoItem[];
}

/** Throws a StoreError: `conflict` when the plan has conflicts or is out of date, `busy` while a tool of the session runs. */
export async function applyUndo(
  journal: UndoJournal,
  plan: UndoPlan,
  options: ApplyUndoOptions = {},
): Promise<UndoResult> {
  const conflicts = plan.items.filter((item) => item.state === "conflict");
  if (conflicts.length > 0 && options.skipConflicts !== true) throw refusal(conflicts);
  if (plan.items.length > 0 && plan.items.every((item) => item.state !== "ready")) throw refusal(plan.items);
  await journal.enter();
  try {
    if (journal.begin(plan.root).length !== plan.basis) throw outdated("The session changed");
    await refuseGuarded(plan, options);
    return await carryOut(journal, plan);
  } finally {
    journal.leave();
  }
}

/** Right before the first change: what is guarded may have changed since the plan was shown. */
async function refuseGuarded({ items }: UndoPlan, { guarded, granted = [] }: ApplyUndoOptions): Promise<void> {
  for (const { path, state } of items) {
    if (state !== "ready" || granted.includes(path)) continue;
    const reason = await guarded?.(path);
    if (reason !== undefined) {
      throw new StoreError(
        "conflict",
        `Nothing was undone. ${shownPath(path)} is guarded: ${reason}. It changes only when you answer yes for this path.`,
      );
    }
  }
}

async function carryOut(journal: UndoJournal, plan: UndoPlan): Promise<UndoResult> {
  const done = plan.items.filter((item) => item.state === "ready");
  const left = plan.items.filter((item) => item.state !== "ready");
  const id = randomBytes(6).toString("hex");
  mkdirSync(plan.root, { recursive: true });
  const changes: Change[] = [];
  for (const item of done) changes.push(await keepPresent(journal, plan, item));
  await journal.flush();
  const killed = killedUndos(journal, plan);
  const list = withKilled(journal, { plan, killed, changes });
  journal.append({ is: "undo", id, at: journal.clock.wall(), of: plan.of, redo: plan.redo, list });
  await journal.sync();
  const steps = changes.map((change, index) => stepOf(change, { id, index }));
  try {
    restore(steps, optionsFor(journal, plan.root));
  } catch (error) {
    takeBack(journal, { root: plan.root, steps, id, error: error as Error });
  }
  journal.append({ is: "done", id }, ...killed.map((group) => ({ is: "done", id: group.id, failed: true }) as const));
  await journal.sync();
  return { done, left };
}

/** What is about to go; it must still be what the plan was made for. */
async function keepPresent(journal: UndoJournal, { root }: UndoPlan, item: UndoItem): Promise<Change> {
  const { path, from, to } = item;
  const { state, bytes } = presentAt(root, path, (content) => journal.address(content));
  if (!sameState(state, from)) throw outdated(`${shownPath(path)} was changed`);
  if (bytes !== undefined) await journal.keep(bytes);
  if (item.bytes !== undefined) await journal.keep(item.bytes);
  return { path, before: state, after: to };
}

/** Undos of the same that were begun and never finished. */
function killedUndos(journal: UndoJournal, plan: UndoPlan): readonly UndoGroup[] {
  const begun = journal.history().groups.filter((group) => group.is === "undo" && group.state === "begun");
  return begun.filter(
    (group): group is UndoGroup => group.is === "undo" && group.of.some((id) => plan.of.includes(id)),
  );
}

/**
 * Removes their leftovers. Their complete or partial work becomes part of this undo, so that a redo restores all
 * of it back.
 */
function withKilled(
  journal: UndoJournal,
  now: { readonly plan: UndoPlan; readonly killed: readonly UndoGroup[]; readonly changes: readonly Change[] },
): readonly Change[] {
  const { root } = now.plan;
  const list = new Map(now.changes.map((change) => [change.path, change]));
  for (const { id, changes } of now.killed) {
    changes.forEach(({ path, before, after }, index) => {
      removeTemporary(root, stepOf({ path, before, after }, { id, index }));
      const { state } = presentAt(root, path, (content) => journal.address(content));
      const isHalfDone = state === undefined && isExchange({ from: before, to: after });
      const isDone = sameState(state, after) && !list.has(path);
      if (isDone || isHalfDone) list.set(path, { path, before, after });
    });
  }
  return [...list.values()];
}

function optionsFor(journal: UndoJournal, root: string): RestoreOptions {
  return { root, content: (address) => journal.content(address), address: (content) => journal.address(content) };
}

function stepOf({ path, before, after }: Change, { id, index }: { id: string; index: number }): Step {
  return { path, from: before, to: after, temporary: `.oxbow-undo-${id}-${index}.tmp` };
}

/** Always throws: the error that made it necessary, with the news how it went. */
function takeBack(
  journal: UndoJournal,
  failed: { readonly root: string; readonly steps: readonly Step[]; readonly id: string; readonly error: Error },
): never {
  const { root, steps, id, error } = failed;
  const back = steps.flatMap((step): readonly Step[] => {
    const { state } = presentAt(root, step.path, (content) => journal.address(content));
    const isTaken = sameState(state, step.to) || (isExchange(step) && state === undefined);
    return isTaken && !sameState(state, step.from) ? [{ ...step, from: state, to: step.from }] : [];
  });
  try {
    restore(back, optionsFor(journal, root));
  } catch (again) {
    throw new StoreError(
      "unavailable",
      `Only a part was undone. ${error.message}. Rolling back failed too: ${(again as Error).message}. ` +
        "Fix the cause and undo again: it resumes where it stopped.",
      { cause: error },
    );
  }
  journal.append({ is: "done", id, failed: true });
  throw new StoreError("unavailable", `Nothing was undone. ${error.message}.`, { cause: error });
}

function refusal(conflicts: readonly UndoItem[]): StoreError {
  const shown = conflicts.slice(0, 5).map(({ path, reason }) => `${shownPath(path)}: ${reason}`);
  const more = conflicts.length > shown.length ? ` And ${conflicts.length - shown.length} more.` : "";
  return new StoreError("conflict", `Nothing was undone. ${shown.join(". ")}.${more}`);
}

function outdated(what: string): StoreError {
  return new StoreError("conflict", `${what} since the plan was made. Nothing was undone. Make a new plan.`);
}
