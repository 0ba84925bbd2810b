/** Asks the user at the terminal what to do with a plan. */
import { approvesPlan } from "../../base/plan-approval.js";
import { paint } from "../../base/terminal-style.js";
import { readTypedInput } from "../../base/typed-input.js";
import { PLAN_CHOICES, PLAN_QUESTION, type PlanAnswer } from "../sdk/plan-choices.js";
import { type Picked, pick } from "./pick.js";
import type { Terminal } from "./terminal.js";

/** `line`: the user typed something else, which counts as input. */
type Given = PlanAnswer | { readonly kind: "line"; readonly text: string };

const LONG = { yes: "y", no: "k", cancel: "c" };

/** Several words that name no choice say what to change. An empty line cancels. */
export async function askPlan(terminal: Terminal, signal: AbortSignal): Promise<Given> {
  terminal.err.write(`\n${paint(terminal, "yellow", PLAN_QUESTION)}\n`);
  const picked = await pick<Given | "what">(terminal, PLAN_CHOICES, {
    signal,
    long: LONG,
    takesWords: (answer) => answer === "what",
    otherwise,
  });
  if (picked === undefined) return { kind: "cancel" };
  if (picked.answer !== "what") return picked.answer;
  const message = picked.words || (await terminal.askLine?.("What to change: ", signal))?.trim() || "";
  return message === "" ? { kind: "cancel" } : { kind: "keep planning", message };
}

function otherwise(line: string): Picked<Given> | undefined {
  if (approvesPlan(line)) return { answer: { kind: "carry out" }, words: "" };
  if (readTypedInput(line).kind !== "prompt") return { answer: { kind: "line", text: line }, words: "" };
  return /\s/.test(line) ? { answer: { kind: "keep planning", message: line }, words: "" } : undefined;
}
