import { safeText } from "../../../base/terminal-text.js";
import { UsageError } from "../../../base/usage-error.js";
import type { ParsedFlags } from "../../../commands/flags.js";
import { openSessionUndo } from "../../../runtime/parts/undo.js";
import { guardedUndo } from "../../../runtime/parts/undo-guard.js";
import type { SessionRecord } from "../../../sessions/store.js";
import { applyUndo } from "../../../sessions/undo/apply.js";
import { planUndo } from "../../../sessions/undo/plan.js";
import { renderUndoPlan, undoPlanJson } from "../../../sessions/undo/render.js";
import type { UndoChoice } from "../../../sessions/undo/selection.js";
import { shownPath } from "../../../system/path-bytes.js";
import { EXIT } from "../../exit-codes.js";
import { confirm } from "./confirm.js";
import type { OpenSessions } from "./open-sessions.js";
import type { SessionAction } from "./session-action.js";
import { findTurn, turnNumber } from "./turn-number.js";
import { withLease } from "./with-lease.js";

export const action: SessionAction = {
  flags: [
    { name: "turn", short: "t", value: "N", help: "only this turn (default: the last one that changed files)" },
    { name: "from", value: "N", help: "this turn and everything after it" },
    { name: "redo", help: "take the last undo back" },
    { name: "dry-run", short: "n", help: "show what would be done" },
    { name: "skip-conflicts", help: "leave files that others changed since, and do the rest" },
    { name: "yes", short: "y", help: "without being asked, but for guarded files" },
    { name: "guarded", help: "with --yes: also files that other programs run or obey" },
  ],
  async run(flags, sessions) {
    const record = await sessions.named(flags);
    if (flags.has("dry-run")) return undo(flags, sessions, record);
    const advice = "Use /undo there, or leave it first.";
    return withLease(sessions, { session: record.id, advice }, () => undo(flags, sessions, record));
  },
};

async function undo(flags: ParsedFlags, sessions: OpenSessions, record: SessionRecord): Promise<number> {
  const journal = await openSessionUndo(sessions.stores, record.id);
  const plan = await planUndo(journal, { workspaceRoot: record.cwd, ...(await choiceOf(flags, sessions, record)) });
  const color = sessions.terminal.color && sessions.terminal.out.isTerminal;
  const guarded = await guardedUndo(plan, { sessions: sessions.stores, variables: sessions.variables });
  if (!flags.has("json")) await sessions.write(`${renderUndoPlan(plan, { color })}\n`);
  if (!flags.has("json") && guarded.text !== "") await sessions.write(`\n${safeText(guarded.text)}\n`);
  if (flags.has("dry-run")) {
    if (flags.has("json")) sessions.print(flags, undoPlanJson(plan), () => "");
    return EXIT.answered;
  }
  const blocked = plan.items.some(({ state }) => state === "conflict") && !flags.has("skip-conflicts");
  const isAnswered = flags.has("yes") && (guarded.paths.length === 0 || flags.has("guarded"));
  if (!blocked && plan.items.some(({ state }) => state === "ready") && !isAnswered) {
    if (flags.has("yes") && sessions.terminal.askLine === undefined) {
      throw new UsageError(
        `${shownPath(guarded.paths[0] ?? "")} is guarded: --yes alone does not change it. Say --guarded as well.`,
      );
    }
    const question = plan.redo ? "Do it again?" : "Undo this?";
    if (!(await confirm(sessions, question))) return EXIT.cancelled;
  }
  const result = await applyUndo(journal, plan, {
    skipConflicts: flags.has("skip-conflicts"),
    guarded: guarded.reason,
    granted: guarded.paths,
  });
  const files = result.done.length === 1 ? "1 entry" : `${result.done.length} entries`;
  const left = result.left.length === 0 ? "" : ` ${result.left.length} left as they are.`;
  sessions.print(
    flags,
    {
      ...undoPlanJson(plan),
      done: result.done.map(({ path }) => shownPath(path)),
      left: result.left.map(({ path }) => shownPath(path)),
    },
    () => `${plan.redo ? "Done again" : "Undone"}: ${files}.${left}`,
  );
  return EXIT.answered;
}

async function choiceOf(flags: ParsedFlags, sessions: OpenSessions, record: SessionRecord): Promise<UndoChoice> {
  const given = (["turn", "from", "redo"] as const).filter((name) => flags.has(name));
  if (given.length > 1) throw new UsageError(`Use one of ${given.map((name) => `--${name}`).join(" and ")}.`);
  const [name] = given;
  if (name === undefined) return {};
  if (name === "redo") return { redo: true };
  const { turn } = await findTurn(sessions, record, turnNumber(name, flags.text(name) ?? ""));
  return { [name]: turn };
}
