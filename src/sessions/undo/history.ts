/**
 * The journal read as a story: which turn changed what, and which of it still stands. Pure.
 *
 * 1. A group is a turn, or an undo of groups. A group stands unless one that stands undid it; an undo that was not finished,
 *    or failed and was reverted, is not a group.
 * 2. The changes of one path form a chain: each begins where the one before ended. A link of the chain that never happened
 *    (the process died first, the write failed) or was reverted drops out; where another program changed the path in
 *    between, the chain is broken.
 */
import type { CallId, TurnId } from "../../protocol/ids.js";
import { type Change, type EntryState, sameState } from "./entry-state.js";
import type {
  CallRecord,
  ChangeRecord,
  DoneRecord,
  EndRecord,
  OpenRecord,
  UndoneRecord,
  UndoRecord,
} from "./records.js";

export interface RecordedCall extends CallRecord {
  readonly gaps: string[];
}

/** Something that was done, in the order of the journal. */
export interface JournaledChange extends Change {
  readonly order: number;
  readonly tool: string;
  /** When its call or undo began. */
  readonly at: number;
  /** Absent for an undo. */
  readonly call?: CallId;
}

export interface TurnGroup {
  readonly is: "turn";
  readonly id: TurnId;
  readonly number: number | undefined;
  readonly at: number;
  readonly calls: RecordedCall[];
  readonly changes: JournaledChange[];
}

export interface UndoGroup {
  readonly is: "undo";
  readonly id: string;
  readonly at: number;
  /** The groups it reverted. */
  readonly of: readonly string[];
  readonly redo: boolean;
  readonly changes: readonly JournaledChange[];
  state: "begun" | "done" | "failed";
}

export type Group = TurnGroup | UndoGroup;

export class History {
  readonly groups: Group[] = [];
  opening: OpenRecord | undefined;
  readonly #turns = new Map<string, TurnGroup>();
  readonly #calls = new Map<string, RecordedCall>();
  readonly #undos = new Map<string, UndoGroup>();
  #order = 0;

  /** How much has been said; two equal numbers mean that nothing was added. */
  get length(): number {
    return this.#order;
  }

  knows({ call, turn }: Pick<CallRecord, "call" | "turn">): boolean {
    return this.#calls.get(call)?.turn === turn;
  }

  add(record: UndoRecord): void {
    if (record.is === "content") return;
    this.#order++;
    if (record.is === "open") this.opening ??= record;
    else if (record.is === "call") this.#addCall(record);
    else if (record.is === "change") this.#addChanges(record);
    else if (record.is === "end") this.#endCall(record);
    else if (record.is === "undo") this.#addUndo(record);
    else if (record.is === "done") this.#endUndo(record);
  }

  #addCall(record: CallRecord): void {
    const { turn, number, at } = record;
    let group = this.#turns.get(turn);
    if (group === undefined) {
      group = { is: "turn", id: turn, number, at, calls: [], changes: [] };
      this.#turns.set(turn, group);
      this.groups.push(group);
    }
    const call: RecordedCall = { ...record, gaps: [] };
    group.calls.push(call);
    this.#calls.set(call.call, call);
  }

  #addChanges({ call: id, list }: ChangeRecord): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    const changes = list.map((change) => ({ ...change, order: this.#order, tool: call.tool, at: call.at, call: id }));
    this.#turns.get(call.turn)?.changes.push(...changes);
  }

  #endCall({ call: id, gaps }: EndRecord): void {
    this.#calls.get(id)?.gaps.push(...(gaps ?? []));
  }

  #endUndo({ id, failed }: DoneRecord): void {
    const undo = this.#undos.get(id);
    if (undo !== undefined) undo.state = failed === true ? "failed" : "done";
  }

  #addUndo({ id, at, of, redo, list }: UndoneRecord): void {
    const changes = list.map((change) => ({ ...change, order: this.#order, tool: redo ? "redo" : "undo", at }));
    const group: UndoGroup = { is: "undo", id, at, of, redo, changes, state: "begun" };
    this.groups.push(group);
    this.#undos.set(id, group);
  }
}

/** The groups whose changes still stand, in order. */
export function standing(groups: readonly Group[]): readonly Group[] {
  const undone = new Set<string>();
  return groups
    .toReversed()
    .filter((group) => {
      if (undone.has(group.id)) return false;
      if (group.is === "turn") return true;
      if (group.state !== "done") return false;
      for (const id of group.of) undone.add(id);
      return true;
    })
    .toReversed();
}

/** Lists what a path went through. */
export interface Chain {
  readonly path: string;
  /** Never empty. */
  readonly links: readonly JournaledChange[];
  /** Another program changed it between two of the links. */
  readonly isBroken: boolean;
}

export function chainsOf(groups: readonly Group[]): readonly Chain[] {
  const chains = new Map<string, { path: string; links: JournaledChange[]; isBroken: boolean }>();
  const changes = groups.flatMap((group) => group.changes).sort((left, right) => left.order - right.order);
  for (const change of changes) {
    const chain = chains.get(change.path);
    if (chain === undefined) chains.set(change.path, { path: change.path, links: [change], isBroken: false });
    else {
      chain.isBroken ||= !continues(chain.links, change.before);
      chain.links.push(change);
    }
  }
  return [...chains.values()];
}

/** The part of a chain that leads to the current state; undefined if none does. Empty: it is back at the start. */
export function linksInEffect(chain: Chain, present: EntryState | undefined): readonly JournaledChange[] | undefined {
  const links = [...chain.links];
  return continues(links, present) ? links : undefined;
}

/** Drops from the end what cannot have been in effect when `state` was found. False when nothing explains it. */
function continues(links: JournaledChange[], state: EntryState | undefined): boolean {
  if (sameState(links.at(-1)?.after, state)) return true;
  const back = links.findLastIndex((change) => sameState(change.before, state));
  if (back === -1) return false;
  links.length = back;
  return true;
}
