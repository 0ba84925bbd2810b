/** Chooses the turns that an undo is about. */
import { isId, type TurnId } from "../../protocol/ids.js";
import { StoreError } from "../store.js";
import { type Group, standing, type TurnGroup, type UndoGroup } from "./history.js";

export interface UndoChoice {
  /** Only this turn: its id, or its number in the session. Default: the last one that changed something. */
  readonly turn?: TurnId | number;
  /** This turn and everything after it; `first` is everything. */
  readonly from?: TurnId | number | "first";
  /** Reverts the last undo instead. */
  readonly redo?: boolean;
}

export interface Selection {
  readonly chosen: readonly Group[];
  /** Later groups that may have changed the same files. */
  readonly others: readonly Group[];
}

export function selectGroups(groups: readonly Group[], choice: UndoChoice): Selection {
  const valid = standing(groups);
  const chosen: readonly Group[] = choice.redo === true ? lastUndo(valid) : chosenTurns(groups, { valid, choice });
  return { chosen, others: valid.filter((group) => !chosen.includes(group)) };
}

function lastUndo(valid: readonly Group[]): readonly UndoGroup[] {
  const last = valid.findLast((group): group is UndoGroup => group.is === "undo" && !group.redo);
  if (last === undefined) throw new StoreError("not-found", "There is no undo to redo.");
  return [last];
}

function chosenTurns(
  groups: readonly Group[],
  { valid, choice }: { readonly valid: readonly Group[]; readonly choice: UndoChoice },
): readonly TurnGroup[] {
  if (choice.turn !== undefined && choice.from !== undefined) {
    throw new StoreError("invalid", "Choose one turn, or everything from a turn on, not both.");
  }
  const turns = valid.filter((group) => group.is === "turn");
  if (choice.turn !== undefined) {
    const turn = findTurn(groups, choice.turn);
    if (turns.includes(turn)) return [turn];
    throw new StoreError("not-found", `${nameOf(turn)} is undone already. To restore it, use redo.`);
  }
  if (choice.from !== undefined) {
    const first = choice.from === "first" ? 0 : groups.indexOf(findTurn(groups, choice.from));
    const later = turns.filter((turn) => groups.indexOf(turn) >= first);
    if (later.length > 0) return later;
    throw new StoreError("not-found", "Everything from that turn on is undone already.");
  }
  const last = turns.findLast((turn) => turn.changes.length > 0);
  if (last !== undefined) return [last];
  const isAnyUndone = groups.some((group) => group.changes.length > 0);
  throw new StoreError(
    "not-found",
    isAnyUndone
      ? "Everything that the tools of this session changed is undone already."
      : "The tools of this session changed no files that Oxbow knows of.",
  );
}

function findTurn(groups: readonly Group[], wanted: TurnId | number): TurnGroup {
  const turns = groups.filter((group) => group.is === "turn");
  const found = turns.find((turn) => turn.id === wanted || turn.number === wanted);
  if (found !== undefined) return found;
  const known = turns.map((turn) => turn.number ?? turn.id).join(", ");
  const shown = typeof wanted === "number" || !isId("turn", wanted) ? `turn ${wanted}` : wanted;
  throw new StoreError(
    "not-found",
    known === "" ? `No tool changed anything in ${shown}.` : `No tool changed anything in ${shown}; ${known} did.`,
  );
}

export function nameOf(turn: Pick<TurnGroup, "id" | "number">): string {
  return turn.number === undefined ? `Turn ${turn.id}` : `Turn ${turn.number}`;
}
