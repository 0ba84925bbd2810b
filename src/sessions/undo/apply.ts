/**
 * Carries out an undo plan as a set of changes, like those of a command (`system/overlay/apply-changes.ts`): what comes back is laid into a
 * folder beside the journal, and applied from there.
 *
 * 1. With a conflict, or when something changed since the plan was made, nothing is touched. What another program changes meanwhile is kept.
 * 2. What goes is in the journal before the first file changes, and so is what is to be done. After a crash `finishUndo` takes the steps that
 *    are left.
 * 3. The undo is in the journal like a turn: it can be undone (redo), and the next undo goes one turn further back.
 */

import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import {
  type Applied,
  type ApplyPlan,
  applyChanges,
  dropPlan,
  finishPlan,
  flushWritten,
  readPlan,
  writePlan,
} from "../../system/overlay/apply-changes.js";
import { entryOf, type HeldChange, type HeldEntry, look } from "../../system/overlay/change-set.js";
import { fsPath, shownPath } from "../../system/path-bytes.js";
import { StoreError } from "../store.js";
import { type Change, presentAt, sameState } from "./entry-state.js";
import type { UndoGroup } from "./history.js";
import type { UndoJournal } from "./journal.js";
import type { UndoPlan } from "./plan.js";
import type { UndoItem } from "./plan-items.js";

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

const FOLDER = "undo-";

async function carryOut(journal: UndoJournal, plan: UndoPlan): Promise<UndoResult> {
  const ready = plan.items.filter((item) => item.state === "ready");
  const id = randomBytes(6).toString("hex");
  const folder = join(journal.folder, `${FOLDER}${id}`);
  mkdirSync(plan.root, { recursive: true });
  const steps: Step[] = [];
  for (const item of ready) steps.push(await keepPresent(journal, plan, item));
  await journal.flush();
  try {
    const plans = layOut(steps, { folder, root: plan.root, content: (address) => journal.content(address) });
    await flushWritten(plans);
    await writePlan(folder, plans);
    const list = steps.map(({ change }) => change);
    journal.append({ is: "undo", id, at: journal.clock.wall(), of: plan.of, redo: plan.redo, list });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  await journal.sync();
  const kept = new Set(await take(journal, { folder, id, action: applyChanges }));
  rmSync(folder, { recursive: true, force: true });
  const left = (item: UndoItem) => ({ ...item, state: "conflict" as const, reason: "another program just changed it" });
  const missed = ready.filter(({ path }) => kept.has(path)).map(left);
  if (missed.length > 0 && missed.length === ready.length) throw refusal(missed);
  return {
    done: ready.filter(({ path }) => !kept.has(path)),
    left: [...plan.items.filter((item) => item.state !== "ready"), ...missed],
  };
}

/** Completes undos that were killed. Returns whether there was one. */
export async function finishUndo(journal: UndoJournal): Promise<boolean> {
  if (unfinished(journal.folder).length === 0) return false;
  let isFinished = false;
  await journal.enter();
  try {
    const { groups } = journal.history();
    for (const name of unfinished(journal.folder)) {
      const id = name.slice(FOLDER.length);
      const folder = join(journal.folder, name);
      const group = groups.find((each): each is UndoGroup => each.is === "undo" && each.id === id);
      // Without a record no step was taken.
      if (group !== undefined) await take(journal, { folder, id, action: finishPlan });
      isFinished ||= group !== undefined;
      rmSync(folder, { recursive: true, force: true });
    }
  } finally {
    journal.leave();
  }
  return isFinished;
}

function unfinished(folder: string): readonly string[] {
  return look(folder) === undefined ? [] : readdirSync(folder).filter((name) => name.startsWith(FOLDER));
}

interface Taking {
  readonly folder: string;
  readonly id: string;
  readonly action: (plan: ApplyPlan) => Promise<Applied>;
}

/** Returns the paths that another program changed meanwhile: they stay as they are. */
async function take(journal: UndoJournal, { folder, id, action }: Taking): Promise<readonly string[]> {
  const applied: Applied[] = [];
  const kept: string[] = [];
  try {
    for (const plan of readPlan(folder) ?? []) {
      const each = await action(plan);
      applied.push(each);
      kept.push(...each.conflicts.map(({ path }) => (plan.root === ELSEWHERE ? `/${path}` : path)));
    }
  } catch (error) {
    const { message } = error as Error;
    const advice = "Fix the cause and undo again: it goes on where it stopped.";
    throw new StoreError("unavailable", `Only a part was undone: ${message}. ${advice}`, { cause: error });
  }
  const isNothing = kept.length > 0 && applied.every(({ done }) => done.length === 0);
  journal.append({ is: "done", id, ...(isNothing && { failed: true as const }) });
  await journal.sync();
  const changed = applied.flatMap(({ folders }) => folders);
  await dropPlan(folder, changed);
  return kept;
}

interface Step {
  readonly change: Change;
  readonly before: HeldEntry | undefined;
}

/** Keeps what is about to go; it must still be what the plan was made for. */
async function keepPresent(journal: UndoJournal, { root }: UndoPlan, item: UndoItem): Promise<Step> {
  const { path, from, to } = item;
  const { state, entry, bytes } = presentAt(root, path, (content) => journal.address(content));
  if (!sameState(state, from)) throw outdated(`${shownPath(path)} was changed`);
  if (bytes !== undefined) await journal.keep(bytes);
  if (item.bytes !== undefined) await journal.keep(item.bytes);
  return { change: { path, before: state, after: to }, before: entry };
}

/** The root of what tools changed in other folders than the workspace. */
const ELSEWHERE = "/";

interface Place {
  /** For what comes back. */
  readonly folder: string;
  readonly root: string;
  content(address: string): Buffer | undefined;
}

function layOut(steps: readonly Step[], { folder, root, content }: Place): readonly ApplyPlan[] {
  const startedAt = Date.now() + 1;
  return [root, ELSEWHERE].map((top, index) => {
    const upper = join(folder, String(index), "upper");
    mkdirSync(upper, { recursive: true, mode: 0o700 });
    const changes = steps
      .filter(({ change }) => isAbsolute(change.path) === (index === 1))
      .map(({ change, before }): HeldChange => {
        const path = index === 1 ? change.path.slice(1) : change.path;
        const after = change.after && lay(join(upper, path), change, content);
        return { path, before, after, recorded: true };
      });
    return { root: top, upper, removed: join(folder, String(index), "removed"), startedAt, changes };
  });
}

function lay(full: string, { path, after }: Change, content: Place["content"]): HeldEntry | undefined {
  const { kind, mode, target = "" } = after ?? {};
  mkdirSync(fsPath(dirname(full)), { recursive: true, mode: 0o700 });
  if (kind === "link") symlinkSync(fsPath(target), fsPath(full));
  else if (kind === "folder") mkdirSync(fsPath(full));
  else {
    const bytes = content(after?.content ?? "");
    if (bytes === undefined) {
      const why = "its content is not in the journal, or damaged there";
      throw new StoreError("unavailable", `Nothing was undone. ${shownPath(path)}: ${why}.`);
    }
    writeFileSync(fsPath(full), bytes);
    if (mode !== undefined) chmodSync(fsPath(full), mode);
  }
  const made = look(full);
  const entry = made && entryOf(made, full);
  // The files of a folder are still to come.
  return entry && mode !== undefined ? { ...entry, mode } : entry;
}

function refusal(conflicts: readonly UndoItem[]): StoreError {
  const shown = conflicts.slice(0, 5).map(({ path, reason }) => `${shownPath(path)}: ${reason}`);
  const more = conflicts.length > shown.length ? ` And ${conflicts.length - shown.length} more.` : "";
  return new StoreError("conflict", `Nothing was undone. ${shown.join(". ")}.${more}`);
}

function outdated(what: string): StoreError {
  return new StoreError("conflict", `${what} since the plan was made. Nothing was undone. Make a new plan.`);
}
