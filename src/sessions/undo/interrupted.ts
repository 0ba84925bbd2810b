/** A command whose process died: its changes are found by a scan now, as the next call would do (recorder.ts). */
import type { Change } from "./entry-state.js";
import type { Group, History, RecordedCall } from "./history.js";
import type { UndoJournal } from "./journal.js";
import { GAPS } from "./recorder.js";
import { WorkspaceWatch } from "./workspace-watch.js";

export interface Interrupted {
  readonly call: RecordedCall["call"];
  readonly changes: readonly Change[];
  readonly gaps: readonly string[];
}

export async function findInterrupted(journal: UndoJournal, root: string): Promise<Interrupted | undefined> {
  const { interrupted, opening, workspace } = journal.history();
  if (interrupted === undefined) return undefined;
  const { call } = interrupted;
  const { limits, clock, ignore } = journal;
  // With other rules, entries that were ignored then would look new.
  if (opening?.ignore !== (ignore !== undefined)) return { call, changes: [], gaps: [GAPS.unknownEnd] };
  const watch = new WorkspaceWatch({ root, limits, clock, ignore, known: workspace, knownAt: interrupted.at });
  const found = await watch.compare(async (content) => journal.address(content));
  if (found.is === "too-large") return { call, changes: [], gaps: [GAPS.unknownEnd, GAPS.tooLarge] };
  return { call, changes: found.changes, gaps: [GAPS.interrupted] };
}

/** The groups as they would be if the call had ended like this. */
export function concluded(history: History, interrupted: Interrupted | undefined): readonly Group[] {
  if (interrupted === undefined) return history.groups;
  const turn = history.turnOf(interrupted.call);
  return history.groups.map((group) => {
    if (group !== turn || group.is !== "turn") return group;
    const added = interrupted.changes.map((change) => ({
      ...change,
      order: history.length + 1,
      tool: toolOf(group, interrupted),
    }));
    const calls = group.calls.map((call) =>
      call.call === interrupted.call ? { ...call, gaps: [...call.gaps, ...interrupted.gaps] } : call,
    );
    return { ...group, calls, changes: [...group.changes, ...added] };
  });
}

function toolOf(group: Group, { call }: Interrupted): string {
  return (group.is === "turn" ? group.calls.find((each) => each.call === call)?.tool : undefined) ?? "a command";
}
