/** The answers to a plan, in the words of all clients. */
import type { EventPayloads } from "../../protocol/events.js";
import type { Choice } from "./permission-choices.js";

export type PlanAnswer =
  | { readonly kind: "carry out" }
  | { readonly kind: "carry out, review edits" }
  /** Plan mode stays, and the model gets the words. */
  | { readonly kind: "keep planning"; readonly message: string }
  /** Nothing happens: plan mode stays. */
  | { readonly kind: "cancel" };

export const PLAN_QUESTION = "Carry out this plan?";

export const PLAN_CHOICES: readonly Choice<PlanAnswer | "what">[] = [
  { key: "y", label: "yes, carry it out", answer: { kind: "carry out" } },
  { key: "e", label: "yes, and ask for each edit", answer: { kind: "carry out, review edits" } },
  { key: "k", label: "no, keep planning, and tell the model what to change", answer: "what" },
  { key: "c", label: "cancel: nothing happens now", answer: { kind: "cancel" } },
];

/** Tells whether a turn ended with a plan that a person can decide about. */
export function endsWithPlan({ outcome, plan, text }: EventPayloads["TurnEnded"]): boolean {
  return plan === true && outcome === "answered" && text.trim() !== "";
}
