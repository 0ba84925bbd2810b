/**
 * A plan for some of its entries.
 *
 * 1. A folder follows what is in it: it is made for an entry that comes back, and removed only when all in it goes.
 * 2. The undo counts for its turns as a whole: a redo takes it back, then another choice can be made.
 */
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

/** Whether the entry is a folder that follows what is in it, so that no one decides about it. */
export function follows({ items }: UndoPlan, item: UndoItem): boolean {
  return contentOf(items, item).length > 0;
}

function contentOf(items: readonly UndoItem[], { path, state, kind, action }: UndoItem): readonly UndoItem[] {
  if (kind !== "folder" || state !== "ready" || action === "chmod") return [];
  return items.filter(
    (other) => other.state === "ready" && other.kind !== "folder" && other.path.startsWith(`${path}/`),
  );
}
