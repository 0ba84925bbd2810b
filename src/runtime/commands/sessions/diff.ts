import { safeLine } from "../../../base/terminal-text.js";
import { UsageError } from "../../../base/usage-error.js";
import { asValue, type CommandAnswer, type CommandResult } from "../../../feature/command.js";
import { renderComparison } from "../../../sessions/rerun/compare.js";
import { type SessionRecord, StoreError } from "../../../sessions/store.js";
import { planUndo } from "../../../sessions/undo/plan.js";
import { changesJson, renderChanges } from "../../../sessions/undo/render.js";
import { compareSessions } from "../../sessions/looking-back.js";
import { named, type OpenPort, type SessionAction } from "./port.js";

export const diff: SessionAction = async (args, port, { screen }) => {
  const record = await named(args.text("ID"), port);
  const second = args.text("OTHER");
  if (second === undefined) return changedFiles(record, port, { color: screen?.color ?? false });
  return sideBySide([record, await named(second, port)], port, screen?.width);
};

/** Reads the plan of undoing all of a session forwards. */
async function changedFiles(
  { id, cwd, title }: SessionRecord,
  { stores }: OpenPort,
  look: { readonly color: boolean },
): Promise<CommandResult> {
  const journal = await stores.undoJournal(id);
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

const MOST = 4;

export const compareStored: SessionAction = async (args, port, { screen }) => {
  const words = args.list("ID");
  // In a conversation its own session comes first.
  const typed = words.length === 1 && port.current !== undefined ? [port.current, ...words] : words;
  if (typed.length < 2 || typed.length > MOST) throw new UsageError(`Give two to ${MOST} sessions.`);
  const records = [];
  for (const word of typed) records.push(await named(word, port));
  return sideBySide(records, port, screen?.width);
};

async function sideBySide(
  records: readonly SessionRecord[],
  { stores }: OpenPort,
  width: number | undefined,
): Promise<CommandAnswer> {
  const ids = records.map(({ id }) => id);
  if (new Set(ids).size < ids.length) throw new UsageError("Give different sessions.");
  const comparison = await compareSessions(stores, ids);
  return { text: renderComparison(comparison, width), value: asValue(comparison) };
}
