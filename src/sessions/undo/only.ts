/**
 * A plan for some of its entries, or some hunks of a file. The rest stays as it is now.
 *
 * 1. A folder follows what is in it: it is made for an entry that comes back, and removed only when all in it goes.
 * 2. The undo counts for its turns as a whole: a redo takes it back, then another choice can be made.
 */
import { applySomeHunks, countHunks } from "../../base/some-hunks.js";
import { shownPath } from "../../system/path-bytes.js";
import { StoreError } from "../store.js";
import type { UndoJournal } from "./journal.js";
import type { UndoPlan } from "./plan.js";
import type { UndoItem } from "./plan-items.js";

export function onlyThese(plan: UndoPlan, paths: readonly string[]): UndoPlan {
  const chosen = new Set(paths);
  const isTaken = (item: UndoItem): boolean => {
    const inside = contentOf(plan.items, item);
    if (inside.length === 0) return chosen.has(item.path);
    const isMade = item.from === undefined;
    return isMade ? inside.some(({ path }) => chosen.has(path)) : inside.every(({ path }) => chosen.has(path));
  };
  return { ...plan, items: plan.items.filter(isTaken) };
}

/** Tells whether the entry is a folder that follows what is in it, so that no one decides about it. */
export function follows({ items }: UndoPlan, item: UndoItem): boolean {
  return contentOf(items, item).length > 0;
}

function contentOf(items: readonly UndoItem[], { path, state, kind, action }: UndoItem): readonly UndoItem[] {
  if (kind !== "folder" || state !== "ready" || action === "chmod") return [];
  return items.filter(
    (other) => other.state === "ready" && other.kind !== "folder" && other.path.startsWith(`${path}/`),
  );
}

/** Hunks by path, as the diff of the plan shows them, counted from 1. Throws a StoreError when a file has no such hunks. */
export function onlyHunks(
  journal: Pick<UndoJournal, "address">,
  plan: UndoPlan,
  chosen: ReadonlyMap<string, readonly number[]>,
): UndoPlan {
  return {
    ...plan,
    items: plan.items.map((item) => {
      const hunks = chosen.get(item.path);
      return hunks === undefined ? item : partOf(item, new Set(hunks), journal);
    }),
  };
}

function partOf(item: UndoItem, chosen: ReadonlySet<number>, journal: Pick<UndoJournal, "address">): UndoItem {
  const { text, to, path } = item;
  if (text === undefined || to === undefined || item.action !== "restore" || item.state !== "ready") {
    throw new StoreError("conflict", `${shownPath(path)} can only be undone as a whole. Nothing was undone.`);
  }
  const count = countHunks(text.from, text.to);
  const wrong = [...chosen].find((hunk) => hunk < 1 || hunk > count);
  if (wrong !== undefined) {
    throw new StoreError("conflict", `${shownPath(path)} has no change ${wrong}. Nothing was undone.`);
  }
  if (chosen.size === count) return item;
  const target = applySomeHunks(text.from, text.to, chosen);
  const bytes = Buffer.from(target, "utf8");
  const { stamp: _stamp, ...rest } = to;
  const planned = { ...rest, content: journal.address(bytes), size: bytes.length };
  return { ...item, to: planned, text: { from: text.from, to: target }, bytes };
}
