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
import { hasEnded } from "./outputs.js";
import type { Scope } from "./terms.js";
import { code, count, fenced, paragraphs } from "./wording.js";

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

/** Takes the next step of a plan, given everything that has happened in this turn. */
export function nextStep(plan: Plan, turn: { readonly facts: readonly ToolFact[]; readonly tools: Toolbox }): Step {
  let seen = 0;
  let calls = 0;
  let state = plan.next([]);
  while (state.done !== true) {
    const planned = state.value;
    const missing = planned.find((one) => !turn.tools.has(one.tool));
    if (missing !== undefined) return answer(missingTool(missing.tool));
    calls += planned.length;
    if (calls > MAX_CALLS_PER_TURN)
      return answer(
        `I stopped after ${count(MAX_CALLS_PER_TURN, "tool call")}: this request needs more than the rules allow themselves. Ask for a smaller part of it.`,
      );
    const given: ToolFact[] = [];
    for (const one of planned) {
      const at = turn.facts.findIndex((fact, index) => index >= seen && isResultOf(fact, one));
      const fact = turn.facts[at];
      if (fact === undefined) return { type: "calls", calls: planned.slice(given.length).map(withoutAbsent) };
      seen = at + 1;
      if (fact.failed && isRefusal(fact)) return answer(refusedCall(fact));
      if (fact.failed && one.mayFail !== true)
        return answer(`I could not finish: ${describeCall(fact)} failed.\n\n${fenced(fact.text.trim() || NO_MESSAGE)}`);
      given.push(fact);
    }
    state = plan.next(given);
  }
  return answer(state.value);
}

export const NO_MESSAGE = "(no message)";

function answer(text: string): Step {
  return { type: "answer", text };
}

function withoutAbsent(planned: PlannedCall): PlannedCall {
  return {
    ...planned,
    args: Object.fromEntries(Object.entries(planned.args).filter(([, value]) => value !== undefined)),
  };
}

function isResultOf(fact: ToolFact, one: PlannedCall): boolean {
  return fact.tool === one.tool && canonical(fact.args) === canonical(one.args);
}

function canonical(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}

/* ---- the answers when a plan cannot continue ---- */

const SETS: Readonly<Record<string, string>> = { read: "read ls glob grep", edit: "write edit", command: "bash" };

function missingTool(tool: string): string {
  const set = Object.keys(SETS).find((each) => SETS[each]?.split(" ").includes(tool)) ?? tool;
  return `That needs the tool ${code(tool)}, which is not offered in this run, so this was not done. It belongs to the tool set ${code(set)}: add it with ${code(`--tool-set ${set}`)} (several: ${code("--tool-set read,edit")}). With ${code("--permission-mode deny")} no tools are offered at all.`;
}

function refusedCall(fact: ToolFact): string {
  const text = fact.text.trim();
  // No answer and no mode changes what anything but a mode decided.
  const isLaw = /^Denied by (?!mode )/.test(text);
  const outside = `To let tools use that folder, type /add-dir with it, or start Oxbow there.`;
  return paragraphs(
    `I stopped: ${describeCall(fact)} was not permitted, so it was not run.`,
    fenced(text),
    isLaw && / outside the workspace\b/.test(text) && outside,
    !isLaw && `To allow it, answer the question when asked, or run again with ${code("--permission-mode allow")}.`,
  );
}

/** Knows the words with which permissions refuse a call; a file's own "permission denied" is an ordinary failure. */
function isRefusal(fact: ToolFact): boolean {
  const isRefused = /^(?:Denied\b|Permission denied for \S+ by\b|Permission for \S+ not answered\b)/;
  // A command that ran may print such words itself.
  return isRefused.test(fact.text.trimStart()) && !hasEnded(fact);
}

/** Names a call by the argument that distinguishes it from others of the same tool. */
function describeCall({ tool, args }: ToolFact): string {
  const subject = args.command ?? args.pattern ?? args.path ?? args.action;
  return typeof subject === "string" && subject.length <= 200 ? `${code(tool)} (${subject})` : code(tool);
}

/* ---- the calls that plans make, without arguments that equal the default ---- */

/** Makes one call inside a plan: `const fact = yield* call(…)`. */
export function* call(one: PlannedCall): Steps<ToolFact> {
  const [fact] = yield [one];
  if (fact === undefined) throw new Error(`the plan continued without the result of ${one.tool}`);
  return fact;
}

export function* grep(pattern: string, { path, kind }: Scope, options: JsonObject): Steps<string> {
  const args = { pattern, path: pathOf(path), glob: kind && eitherOf(kind.names), ...options };
  return (yield* call({ tool: "grep", args })).text;
}

export function globCall(pattern: string, { path }: Scope = {}): PlannedCall {
  return { tool: "glob", args: { pattern, path: pathOf(path) } };
}

function pathOf(path: string | undefined): string | undefined {
  return path === "." ? undefined : path;
}

export function readCall(path: string, part: JsonObject = {}): PlannedCall {
  return { tool: "read", args: { path, ...part }, mayFail: true };
}

export function listCall({ path = "." }: Scope, depth = 1): PlannedCall {
  return { tool: "ls", args: { path, depth: depth > 1 ? depth : undefined } };
}

/** Makes one glob of several: `{*.ts,*.tsx}`. */
export function eitherOf(names: readonly string[]): string {
  return names.length === 1 ? (names[0] ?? "") : `{${names.join(",")}}`;
}

/** Finds a document that is known by its first name, in the usual spellings: `{README,Readme,readme}*`. */
export function documentGlob(name: string): string {
  const lower = name.toLowerCase();
  const stems = /^licen[cs]e$/.test(lower) ? ["license", "licence"] : [lower];
  const spellings = stems.flatMap((stem) => [stem.toUpperCase(), stem.charAt(0).toUpperCase() + stem.slice(1), stem]);
  return `{${spellings.join(",")}}*`;
}

/** Writes literal text as a regular expression of the usual dialects. */
export function escapeRegex(text: string): string {
  const escaped = text.replace(/[\\.+*?()|[\]{}^$]/g, "\\$&");
  return escaped.replaceAll("\n", "\\r?\\n").replaceAll("\t", "\\t");
}
