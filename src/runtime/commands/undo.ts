/** `/undo`: the same as `oxbow session undo`, in two steps instead of a question. */

import type { Variables } from "../../base/variables.js";
import { UNDO } from "../../commands/catalogue/conversation.js";
import { type Command, type CommandResult, refuse } from "../../commands/command.js";
import type { SessionId } from "../../protocol/ids.js";
import { type SessionStore, StoreError } from "../../sessions/store.js";
import type { UndoChoice } from "../../sessions/undo/selection.js";
import { shownPath } from "../../system/path-bytes.js";
import { openSessionUndo } from "../parts/undo.js";
import { guardedUndo } from "../parts/undo-guard.js";
import type { SessionStores } from "../sessions/session-stores.js";

export interface UndoFacts {
  readonly sessions: SessionStores;
  readonly session: SessionId;
  readonly root: string;
  readonly variables: Variables;
}

const ARGUMENTS = /^(?:(redo|\d+)(?:\s+|$))?(yes)?(\s+guarded)?$/i;

export function undoCommand(facts: UndoFacts): Command {
  return { ...UNDO, run: (args) => undo(args.list("WHICH").join(" "), facts) };
}

async function undo(words: string, { sessions, session, root, variables }: UndoFacts): Promise<CommandResult> {
  const [whole, which, yes, withGuarded] = ARGUMENTS.exec(words) ?? [];
  if (whole === undefined) return refuse("Use /undo, /undo TURN or /undo redo; add 'yes' to do it.");
  const store = await sessions.open();
  if (store === undefined) return refuse("This session is not stored ('--store none'), so nothing can be undone.");
  const [{ planUndo }, { applyUndo }, { renderUndoPlan, undoPlanJson }] = await Promise.all([
    import("../../sessions/undo/plan.js"),
    import("../../sessions/undo/apply.js"),
    import("../../sessions/undo/render.js"),
  ]);
  const journal = await openSessionUndo(sessions, session);
  try {
    const plan = await planUndo(journal, { workspaceRoot: root, ...(await choiceOf(which, store, session)) });
    const guarded = await guardedUndo(plan, { sessions, variables });
    const shown = [renderUndoPlan(plan, { color: false }), guarded.text].filter((text) => text !== "").join("\n\n");
    if (yes === undefined) {
      const ready = plan.items.some(({ state }) => state === "ready");
      const words = [...(which === undefined ? [] : [which]), "yes", ...(guarded.paths.length > 0 ? ["guarded"] : [])];
      const again = ["/undo", ...words].join(" ");
      const text = ready ? `${shown}\n\nNothing is changed yet: ${again} does it.` : shown;
      return { text, value: { ...undoPlanJson(plan), done: [] } };
    }
    const granted = withGuarded === undefined ? [] : guarded.paths;
    const { done } = await applyUndo(journal, plan, { skipConflicts: false, guarded: guarded.reason, granted });
    const files = done.length === 1 ? "1 entry" : `${done.length} entries`;
    return {
      text: `${plan.redo ? "Done again" : "Undone"}: ${files}. The model does not know; tell it if it matters.`,
      value: { ...undoPlanJson(plan), done: done.map(({ path }) => shownPath(path)) },
    };
  } catch (error) {
    if (error instanceof StoreError) return refuse(error.message);
    throw error;
  } finally {
    journal.close();
  }
}

async function choiceOf(which: string | undefined, store: SessionStore, session: SessionId): Promise<UndoChoice> {
  if (which === undefined) return {};
  if (/^redo$/i.test(which)) return { redo: true };
  const { turnsOf } = await import("../../sessions/branch.js");
  for await (const { number, turn } of turnsOf(store.events(session))) if (number === Number(which)) return { turn };
  throw new StoreError("invalid", `There is no turn ${which}.`);
}
