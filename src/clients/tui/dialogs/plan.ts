/** The question what to do with a plan. The plan itself is the answer above it. */
import { truncateText } from "../../../base/text-width.js";
import { PLAN_CHOICES, PLAN_QUESTION, type PlanAnswer } from "../../sdk/plan-choices.js";
import type { Key } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";
import { choiceRows, chosenBy, markedBy, oneLine, wordsAfter, wordsRow } from "./choices.js";
import type { Dialog, DialogSize, DialogView, Step } from "./dialog.js";
import type { PermissionState } from "./permission.js";

type PlanStep = Step<PermissionState, PlanAnswer>;

const FIRST: PermissionState = { scroll: 0 };

export const PLAN_DIALOG: Dialog<PermissionState, PlanAnswer> = {
  name: "plan",
  first: FIRST,
  onKey: (state, key) => (state.message === undefined ? choose(state, key) : write(state, key)),
  onPaste: (state, text) =>
    state.message === undefined ? { state } : { state: { ...state, message: state.message + oneLine(text) } },
  view,
};

function choose(state: PermissionState, key: Key): PlanStep {
  if (key.id === "escape") return { done: { kind: "cancel" } };
  const moved = markedBy(key, state.marked, PLAN_CHOICES.length);
  if (moved !== undefined) return { state: { ...state, marked: moved } };
  const answer = chosenBy(key, PLAN_CHOICES, state.marked);
  if (answer === undefined) return { state };
  return answer === "what" ? { state: { ...FIRST, message: "" } } : { done: answer };
}

/** Enter sends the words, Esc goes back to the choices. */
function write(state: PermissionState, key: Key): PlanStep {
  const { message = "" } = state;
  if (key.id === "escape") return { state: FIRST };
  if (key.id !== "enter") return { state: { ...state, message: wordsAfter(key, message) ?? message } };
  const words = message.trim();
  return words === "" ? { state } : { done: { kind: "keep planning", message: words } };
}

function view({ message, marked }: PermissionState, { columns }: DialogSize, theme: Theme): DialogView {
  const title = theme.warning(truncateText(PLAN_QUESTION, columns));
  if (message === undefined) return { lines: [title, ...choiceRows(PLAN_CHOICES, marked, { columns, theme })] };
  const input = wordsRow("What to change: ", message, { columns, theme });
  const hint = theme.dim(truncateText("enter sends these words, esc goes back", columns));
  return { lines: [title, input.line, hint], cursor: { row: 1, column: input.column } };
}
