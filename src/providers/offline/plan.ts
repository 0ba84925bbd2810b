/**
 * How a matched request is carried out without a memory between model calls.
 *
 * 1. A plan is a generator: it yields the tool calls it wants next, is given their results, and returns the answer.
 * 2. For every model call it runs again from the start and is fed the results that the conversation already holds. A plan must
 *    therefore depend on nothing but the request, the tools offered and those results.
 * 3. A result belongs to a call when tool and arguments are equal; results of foreign calls in the same turn are passed over.
 * 4. A call that fails ends the plan with an answer that says so, unless it was marked `mayFail`. A refused call always does.
 */
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { failedCall, isRefusal, missingTool, refusedCall, tooManyCalls } from "./interruptions.js";

export interface PlannedCall {
  readonly tool: string;
  readonly args: JsonObject;
  /** The plan looks at `failed` itself. */
  readonly mayFail?: true;
}

/** What one tool call of this turn gave. */
export interface ToolFact {
  readonly tool: string;
  readonly args: JsonObject;
  readonly text: string;
  readonly failed: boolean;
}

/** A part of a plan that finds something out. */
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
  if (fact === undefined) throw new Error(`the plan went on without the result of ${one.tool}`);
  return fact;
}
