/**
 * Carries out a matched request without state between model calls.
 *
 * 1. A plan is a generator: it yields the next tool calls, receives their results, and returns the answer.
 * 2. Every model call runs it again from the start with the results in the conversation. A plan must therefore depend only on the
 *    request, the offered tools and those results.
 * 3. A result belongs to a call if tool and arguments are equal; results of other calls in the same turn are skipped.
 * 4. A call that fails ends the plan with an answer that says so, unless it was marked `mayFail`. A denied call always ends it.
 */
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { failedCall, isRefusal, missingTool, refusedCall, tooManyCalls } from "./interruptions.js";

export interface PlannedCall {
  readonly tool: string;
  readonly args: JsonObject;
  /** The plan checks `failed` itself. */
  readonly mayFail?: true;
}

/** The result of one tool call of this turn. */
export interface ToolFact {
  readonly tool: string;
  readonly args: JsonObject;
  readonly text: string;
  readonly failed: boolean;
}

/** A part of a plan that returns a value. */
export type Steps<Result> = Generator<readonly PlannedCall[], Result, readonly ToolFact[]>;

export type Plan = Steps<string>;

/** The tools offered with this request. */
export interface Toolbox {
  has(tool: string): boolean;
}

export type Step =
  | { readonly type: "calls"; readonly calls: readonly PlannedCall[] }
  | { readonly type: "answer"; readonly text: string };

export const MAX_CALLS_PER_TURN = 12;

export interface TurnSoFar {
  readonly facts: readonly ToolFact[];
  readonly tools: Toolbox;
}

/** The next step of a plan, given everything that has happened in this turn. */
export function nextStep(plan: Plan, { facts, tools }: TurnSoFar): Step {
  let seen = 0;
  let calls = 0;
  let state = plan.next([]);
  while (state.done !== true) {
    const planned = state.value;
    const missing = planned.find((one) => !tools.has(one.tool));
    if (missing !== undefined) return answer(missingTool(missing.tool));
    calls += planned.length;
    if (calls > MAX_CALLS_PER_TURN) return answer(tooManyCalls(MAX_CALLS_PER_TURN));
    const given: ToolFact[] = [];
    for (const one of planned) {
      const at = facts.findIndex((fact, index) => index >= seen && isResultOf(fact, one));
      const fact = facts[at];
      if (fact === undefined) break;
      seen = at + 1;
      if (fact.failed && isRefusal(fact)) return answer(refusedCall(fact));
      if (fact.failed && one.mayFail !== true) return answer(failedCall(fact));
      given.push(fact);
    }
    if (given.length < planned.length) return { type: "calls", calls: planned.slice(given.length) };
    state = plan.next(given);
  }
  return answer(state.value);
}

function answer(text: string): Step {
  return { type: "answer", text };
}

function isResultOf(fact: ToolFact, one: PlannedCall): boolean {
  return fact.tool === one.tool && canonical(fact.args) === canonical(one.args);
}

function canonical(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const entries = Object.entries(value as JsonObject).filter(([, inner]) => inner !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}

/** One call inside a plan: `const fact = yield* call(…)`. */
export function* call(one: PlannedCall): Steps<ToolFact> {
  const [fact] = yield [one];
  if (fact === undefined) throw new Error(`the plan continued without the result of ${one.tool}`);
  return fact;
}
