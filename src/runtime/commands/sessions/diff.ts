import { safeLine } from "../../../base/terminal-text.js";
import { asValue, type CommandResult } from "../../../feature/command.js";
import { type TurnSummary, turnsOf } from "../../../sessions/branch.js";
import { type SessionRecord, StoreError } from "../../../sessions/store.js";
import { planUndo } from "../../../sessions/undo/plan.js";
import { changesJson, renderChanges } from "../../../sessions/undo/render.js";
import { openSessionUndo } from "../../parts/undo.js";
import { named, type OpenPort, type SessionAction } from "./port.js";
import { turnLine } from "./turn-line.js";

export const diff: SessionAction = async (args, port, { screen }) => {
  const record = await named(args.text("ID"), port);
  const second = args.text("OTHER");
  if (second === undefined) return changedFiles(record, port, { color: screen?.color ?? false });
  return compare(record, await named(second, port), port);
};

/** Reads the plan of undoing all of a session forwards. */
async function changedFiles(
  { id, cwd, title }: SessionRecord,
  { stores }: OpenPort,
  look: { readonly color: boolean },
): Promise<CommandResult> {
  const journal = await openSessionUndo(stores, id);
  try {
    const plan = await planUndo(journal, { workspaceRoot: cwd, from: "first" });
    if (plan.items.length === 0 && plan.notes.length === 0) return nothing(id);
    return {
      text: `Changed in ${safeLine(title ?? id)}:\n\n${renderChanges(plan, look)}`,
      value: asValue(changesJson(plan)),
    };
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "not-found") throw error;
    return nothing(id);
  } finally {
    journal.close();
  }
}

function nothing(id: SessionRecord["id"]): CommandResult {
  return { text: `${id} changed no files that Oxbow knows of.`, value: { session: id, items: [] } };
}

async function compare(record: SessionRecord, other: SessionRecord, port: OpenPort): Promise<CommandResult> {
  const [left, right] = await Promise.all([allTurns(port, record.id), allTurns(port, other.id)]);
  let same = 0;
  while (same < left.length && same < right.length && isSame(left[same], right[same])) same++;
  const rest = { [record.id]: left.slice(same), [other.id]: right.slice(same) };
  const head = `The first ${same === 1 ? "turn is" : `${same} turns are`} the same.`;
  const lines = [same === 0 ? "They have no turn in common." : head];
  for (const [id, turns] of Object.entries(rest)) {
    lines.push("", id, ...(turns.length === 0 ? ["  (nothing more)"] : turns.map(turnLine)));
  }
  return { text: lines.join("\n"), value: asValue({ same_turns: same, rest }) };
}

function isSame(left: TurnSummary | undefined, right: TurnSummary | undefined): boolean {
  return left?.input === right?.input && left?.text === right?.text && left?.toolCalls === right?.toolCalls;
}

async function allTurns({ store }: OpenPort, session: SessionRecord["id"]): Promise<TurnSummary[]> {
  const turns: TurnSummary[] = [];
  for await (const turn of turnsOf(store.events(session))) turns.push(turn);
  return turns;
}
