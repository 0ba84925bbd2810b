/** A plan that reverts only some hunks of a file. The rest of the file stays as it is now. */
import { applySomeHunks, countHunks } from "../../base/some-hunks.js";
import { shownPath } from "../../system/path-bytes.js";
import { StoreError } from "../store.js";
import type { UndoJournal } from "./journal.js";
import type { UndoPlan } from "./plan.js";
import type { UndoItem } from "./plan-items.js";

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
