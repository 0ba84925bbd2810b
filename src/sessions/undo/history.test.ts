import { describe, expect, it } from "vitest";
import type { CallId, TurnId } from "../../protocol/ids.js";
import type { EntryState } from "./entry-state.js";
import { chainsOf, History, linksInEffect, standing } from "./history.js";
import type { UndoRecord } from "./records.js";

const file = (content: string): EntryState => ({ kind: "file", mode: 0o644, content });
const A = file("A");
const B = file("B");
const C = file("C");

function turn(
  number: number,
  ...changes: readonly (readonly [string, EntryState | undefined, EntryState | undefined])[]
) {
  const call: CallId = `call_${number}`;
  const id: TurnId = `turn_${number}`;
  const list = changes.map(([path, before, after]) => ({ path, before, after }));
  return [
    { is: "call", call, turn: id, number, tool: "edit", at: number },
    { is: "change", call, list },
  ] as const;
}

function undo(id: string, of: readonly string[], end?: "done" | "failed", redo = false): readonly UndoRecord[] {
  const begun = { is: "undo", id, at: 0, of, redo, list: [] } as const;
  if (end === undefined) return [begun];
  return [begun, { is: "done", id, ...(end === "failed" && { failed: true }) }];
}

function historyOf(...records: readonly (readonly UndoRecord[])[]): History {
  const history = new History();
  for (const record of records.flat()) history.add(record);
  return history;
}

const standingIds = (history: History) => standing(history.groups).map((group) => group.id);

describe("what stands", () => {
  it("is what no standing undo took back; an undo that was undone took nothing back", () => {
    const turns = [turn(1), turn(2), turn(3)];
    expect(standingIds(historyOf(...turns))).toEqual(["turn_1", "turn_2", "turn_3"]);
    const first = [...turns, undo("u1", ["turn_3"], "done")];
    expect(standingIds(historyOf(...first))).toEqual(["turn_1", "turn_2", "u1"]);
    const redone = [...first, undo("r1", ["u1"], "done", true)];
    expect(standingIds(historyOf(...redone))).toEqual(["turn_1", "turn_2", "turn_3", "r1"]);
    const again = [...redone, undo("u2", ["turn_3", "turn_2"], "done")];
    expect(standingIds(historyOf(...again))).toEqual(["turn_1", "r1", "u2"]);
  });

  it("is not touched by an undo that was not finished or was taken back", () => {
    expect(standingIds(historyOf(turn(1), undo("u1", ["turn_1"])))).toEqual(["turn_1"]);
    expect(standingIds(historyOf(turn(1), undo("u1", ["turn_1"], "failed")))).toEqual(["turn_1"]);
  });
});

describe("a chain of changes", () => {
  const chainOf = (...changes: readonly (readonly [EntryState | undefined, EntryState | undefined])[]) => {
    const { groups } = historyOf(...changes.map(([before, after], index) => turn(index, ["p", before, after])));
    const [chain] = chainsOf(groups);
    if (chain === undefined) throw new Error("no chain");
    return chain;
  };
  const ends = (chain: ReturnType<typeof chainOf>, present: EntryState | undefined) => {
    const links = linksInEffect(chain, present);
    return links?.map(({ before, after }) => [before?.content, after?.content]);
  };

  it("goes from the first state to the last", () => {
    const chain = chainOf([undefined, A], [A, B], [B, undefined]);
    expect(chain.isBroken).toBe(false);
    expect(ends(chain, undefined)).toHaveLength(3);
    expect(ends(chain, C)).toBeUndefined();
  });

  it("drops what never happened", () => {
    const chain = chainOf([A, B], [B, C]);
    expect(ends(chain, B)).toEqual([["A", "B"]]);
    expect(ends(chain, A)).toEqual([]);
    const later = chainOf([A, B], [A, C]);
    expect(later.isBroken).toBe(false);
    expect(ends(later, C)).toEqual([["A", "C"]]);
  });

  it("is broken by another program's change", () => {
    expect(chainOf([A, B], [C, A]).isBroken).toBe(true);
    expect(chainOf([A, B], [undefined, A]).isBroken).toBe(true);
  });

  it("does not treat an unknown mode as a change", () => {
    const chain = chainOf([undefined, { kind: "file", content: "A" }], [A, B]);
    expect(chain.isBroken).toBe(false);
  });
});
