/**
 * Rules of a route: each names models and the calls that they are for. The first rule whose conditions all hold decides; without one, the
 * route's own models answer. Failover continues with the route's own models.
 */
import { namePattern, type TextPattern } from "../../base/star-pattern.js";
import type { ModelRequest, RequestContext } from "../../engine/ports.js";
import type { Message } from "../../protocol/content.js";
import { isJsonObject } from "../../protocol/json.js";
import { estimateRequestTokens } from "../tokens/estimate-request.js";

export interface RouteRule {
  /** For events: its own name, or `rule 2`. */
  readonly name: string;
  /** In the order in which Oxbow tries them. */
  readonly models: readonly string[];
  /** Its conditions as they were written. */
  readonly when: Readonly<Record<string, unknown>>;
  /** Says whether it is for long conversations, so that their models decide how long one may be. */
  readonly isForLong: boolean;
  matches(call: RoutedCall): boolean;
}

/** A model call, looked at by conditions. */
export interface RoutedCall {
  readonly request: ModelRequest;
  readonly context: RequestContext;
  /** Estimated; counted at the first use. */
  tokens(): number;
}

export function routedCall(request: ModelRequest, context: RequestContext): RoutedCall {
  let tokens: number | undefined;
  return {
    request,
    context,
    tokens: () => {
      tokens ??= estimateRequestTokens(request, context.model.family);
      return tokens;
    },
  };
}

type Condition = (call: RoutedCall) => boolean;
type ReadCondition = (value: unknown) => Condition | string;

const CONDITIONS: Readonly<Record<string, ReadCondition>> = {
  tokens_over: number((call, limit) => call.tokens() > limit),
  tokens_under: number((call, limit) => call.tokens() < limit),
  turn_over: number(({ context }, limit) => (context.facts?.turn ?? 1) > limit),
  turn_under: number(({ context }, limit) => (context.facts?.turn ?? 1) < limit),
  images: flag(({ request }) => holds(request.messages, "image")),
  audio: flag(({ request }) => holds(request.messages, "audio")),
  tools: flagOrNames(({ request }) => request.tools.map(({ name }) => name)),
  subagent: flagOrNames(({ context }) => (context.facts?.agent === undefined ? [] : [context.facts.agent])),
  text: names(({ request }) => [newestInput(request.messages)]),
};

/** The rules, or what is wrong with one. */
export function readRules(value: unknown): { readonly rules: readonly RouteRule[] } | { readonly problem: string } {
  if (value === undefined) return { rules: [] };
  if (!Array.isArray(value)) return { problem: "rules are tables: [[routes.NAME.rules]]" };
  const rules: RouteRule[] = [];
  for (const [index, table] of value.entries()) {
    const rule = readRule(table, `rule ${index + 1}`);
    if (typeof rule === "string") return { problem: `rule ${index + 1}: ${rule}` };
    rules.push(rule);
  }
  return { rules };
}

function readRule(table: unknown, usualName: string): RouteRule | string {
  if (!isJsonObject(table)) return "expected a table with a model and conditions";
  const { name = usualName, model, chain, ...when } = table;
  if (typeof name !== "string" || name.trim() === "") return "its name must be a text";
  const models = modelNames(chain ?? (model === undefined ? [] : [model]));
  if (models === undefined || models.length === 0) return 'it needs model = "PROVIDER:NAME" or chain = ["…", "…"]';
  const conditions: Condition[] = [];
  for (const [key, value] of Object.entries(when)) {
    const read = Object.hasOwn(CONDITIONS, key) ? CONDITIONS[key] : undefined;
    if (read === undefined) return `there is no condition "${key}"; there are ${Object.keys(CONDITIONS).join(", ")}`;
    const condition = read(value);
    if (typeof condition === "string") return `${key}: expected ${condition}`;
    conditions.push(condition);
  }
  if (conditions.length === 0) return `it needs a condition: ${Object.keys(CONDITIONS).join(", ")}`;
  return {
    ...{ name, models, when, isForLong: "tokens_over" in when },
    matches: (call) => conditions.every((condition) => condition(call)),
  };
}

function modelNames(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.every((each): each is string => typeof each === "string" && each.trim() !== "")
    ? value.map((each) => each.trim())
    : undefined;
}

function number(test: (call: RoutedCall, limit: number) => boolean): ReadCondition {
  return (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= 0 ? (call) => test(call, value) : "a whole number";
}

function flag(test: (call: RoutedCall) => boolean): ReadCondition {
  return (value) => (typeof value === "boolean" ? (call) => test(call) === value : "true or false");
}

/** One of the patterns fits one of the texts; `*` is any text. */
function names(textsOf: (call: RoutedCall) => readonly string[]): ReadCondition {
  return (value) => {
    const globs = modelNames(typeof value === "string" ? [value] : value);
    if (globs === undefined || globs.length === 0) return 'a pattern such as "*translate*", or several';
    const patterns: readonly TextPattern[] = globs.map(namePattern);
    return (call) => textsOf(call).some((text) => patterns.some((pattern) => pattern.test(text)));
  };
}

/** Tells whether there are any, or patterns for their names. */
function flagOrNames(namesOf: (call: RoutedCall) => readonly string[]): ReadCondition {
  return (value) => (typeof value === "boolean" ? (call) => namesOf(call).length > 0 === value : names(namesOf)(value));
}

function holds(messages: readonly Message[], type: string): boolean {
  return messages.some(({ content }) =>
    content.some(
      (block) =>
        block.type === type || (block.type === "tool_result" && block.content.some((part) => part.type === type)),
    ),
  );
}

/** The newest text that a person or client sent; results of tools are none. */
function newestInput(messages: readonly Message[]): string {
  for (const { role, content } of messages.toReversed()) {
    if (role !== "user" || content.some(({ type }) => type === "tool_result")) continue;
    return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  }
  return "";
}
