import { safeLine } from "../../../base/terminal-text.js";
import { UsageError } from "../../../base/usage-error.js";
import type { ParsedFlags } from "../../../commands/flags.js";
import { openSessionUndo } from "../../../runtime/parts/undo.js";
import { type TurnSummary, turnsOf } from "../../../sessions/branch.js";
import type { SessionRecord } from "../../../sessions/store.js";
import { StoreError } from "../../../sessions/store.js";
import { planUndo } from "../../../sessions/undo/plan.js";
import { renderUndoPlan, undoPlanJson } from "../../../sessions/undo/render.js";
import { EXIT } from "../../exit-codes.js";
import type { OpenSessions } from "./open-sessions.js";
import type { SessionAction } from "./session-action.js";

export const action: SessionAction = {
  flags: [],
  async run(flags, sessions) {
    const [record, other] = await both(flags, sessions);
    return other === undefined ? changedFiles(flags, sessions, record) : compare(flags, sessions, { record, other });
  },
};

async function both(flags: ParsedFlags, sessions: OpenSessions): Promise<[SessionRecord, SessionRecord | undefined]> {
  const record = await sessions.named(flags);
  if (flags.words.length > 2) throw new UsageError("Compare two sessions at most.");
  const [, second] = flags.words;
  return [record, second === undefined ? undefined : await sessions.named({ ...flags, words: [second] })];
}

/** What taking all of it back would change is what it changed. */
async function changedFiles(flags: ParsedFlags, sessions: OpenSessions, { id, cwd }: SessionRecord): Promise<number> {
  const journal = await openSessionUndo(sessions.stores, id);
  try {
    const plan = await planUndo(journal, { workspaceRoot: cwd, from: "first" });
    const color = sessions.terminal.color && sessions.terminal.out.isTerminal;
    sessions.print(
      flags,
      undoPlanJson(plan),
      () => `What undoing all of ${id} would do:\n\n${renderUndoPlan(plan, { color })}`,
    );
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "not-found") throw error;
    sessions.print(flags, { session: id, items: [] }, () => `${id} changed no files that Oxbow knows of.`);
  }
  return EXIT.answered;
}

async function compare(
  flags: ParsedFlags,
  sessions: OpenSessions,
  { record, other }: { readonly record: SessionRecord; readonly other: SessionRecord },
): Promise<number> {
  const [left, right] = await Promise.all([allTurns(sessions, record.id), allTurns(sessions, other.id)]);
  let same = 0;
  while (same < left.length && same < right.length && isSame(left[same], right[same])) same++;
  const rest = { [record.id]: left.slice(same), [other.id]: right.slice(same) };
  sessions.print(flags, { same_turns: same, rest }, () => {
    const lines = [
      same === 0
        ? "They have no turn in common."
        : `The first ${same === 1 ? "turn is" : `${same} turns are`} the same.`,
    ];
    for (const [id, turns] of Object.entries(rest))
      lines.push("", id, ...(turns.length === 0 ? ["  (nothing more)"] : turns.map(line)));
    return lines.join("\n");
  });
  return EXIT.answered;
}

function isSame(left: TurnSummary | undefined, right: TurnSummary | undefined): boolean {
  return left?.input === right?.input && left?.text === right?.text && left?.toolCalls === right?.toolCalls;
}

function line({ number, input, text, toolCalls }: TurnSummary): string {
  const calls = toolCalls === 0 ? "" : ` [${toolCalls} ${toolCalls === 1 ? "call" : "calls"}]`;
  return `  ${number}. ${short(input)}${calls}\n     → ${short(text)}`;
}

function short(text: string): string {
  const shown = safeLine(text.trim());
  return shown.length > 100 ? `${shown.slice(0, 99)}…` : shown;
}

async function allTurns({ store }: OpenSessions, session: SessionRecord["id"]): Promise<TurnSummary[]> {
  const turns: TurnSummary[] = [];
  for await (const turn of turnsOf(store.events(session))) turns.push(turn);
  return turns;
}
