/**
 * Finds tool calls that a model wrote as text: small local models do this, even with servers that know the model's template. It
 * recognises an answer that is nothing but calls (as JSON or as Python, bare or in one fence) and the tags in
 * `text-call-dialects.ts`.
 *
 * 1. Text becomes a call only if all of it, or all of its tagged part, is a call of an offered tool. Otherwise it stays
 *    text, byte for byte. White space around calls belongs to them.
 * 2. Text that can still become a call is held back; all other text passes at once.
 * 3. Tags inside a code fence are an example, not a call.
 */
import type { ModelToolCall, ToolSpec } from "../../engine/ports.js";
import { CALL_TAGS, type CallTag, TAG_STARTS } from "./text-call-dialects.js";
import { judgeBeginning, readJsonCalls } from "./text-call-forms.js";

export type TextPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call"; readonly call: ModelToolCall };

export interface TextCallState {
  /**
   * `undecided`: the answer has just begun. `json`: it is held to its end, as one call. `prose`: it passes, except an end that
   * may become a tag. `tag`: it is held to the end of the tag.
   */
  readonly mode: "undecided" | "json" | "prose" | "tag";
  readonly held: string;
  /** The passed text: shows whether a fence is open. */
  readonly passed: string;
  /** Nothing but white space since the beginning or the last call. */
  readonly atBoundary: boolean;
  /** Holds what may still follow the last call and belongs to it. */
  readonly tail?: string | undefined;
}

interface Outcome {
  readonly state: TextCallState;
  readonly parts: readonly TextPart[];
}

export const NO_TEXT_CALLS: TextCallState = { mode: "undecided", held: "", passed: "", atBoundary: true };

export function pushText(state: TextCallState, text: string, offered: readonly ToolSpec[]): Outcome {
  const tools = withOtherNames(offered);
  if (tools.length === 0) return { state, parts: [{ type: "text", text }] };
  if (isPlainProse(state, text)) {
    const passed = state.passed + text;
    return { state: { mode: "prose", held: "", passed, atBoundary: false }, parts: [{ type: "text", text }] };
  }
  const next = { ...state, held: state.held + text };
  if (state.mode === "json") return { state: next, parts: [] };
  // No tag closes without this character; scanning all held text for every token would take quadratic time.
  if (state.mode === "tag" && !text.includes(">")) return { state: next, parts: [] };
  if (state.mode !== "undecided") return scan(next, tools);
  const verdict = judgeBeginning(next.held, tools);
  if (verdict === "prose") return scan(next, tools);
  return { state: verdict === "call" ? { ...next, mode: "json" } : next, parts: [] };
}

const KNOWN = new WeakMap<readonly ToolSpec[], readonly ToolSpec[]>();

/**
 * The tools also under the names that models know from other harnesses: `run_shell_command`, `Bash`. A single small word such as `find`
 * could begin any text, so it counts only as the tool's own name.
 */
function withOtherNames(offered: readonly ToolSpec[]): readonly ToolSpec[] {
  let known = KNOWN.get(offered);
  if (known === undefined) {
    const own = new Set(offered.map(({ name }) => name));
    known = offered.flatMap((tool) => {
      const others = (tool.alsoNamed ?? []).filter((name) => name.includes("_"));
      const names = [...others, ...[tool.name, ...others].map(inPascalCase)].filter((name) => !own.has(name));
      return [tool, ...[...new Set(names)].map((name) => ({ ...tool, name }))];
    });
    KNOWN.set(offered, known);
  }
  return known;
}

function inPascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** A fast path for nearly every token. */
function isPlainProse({ mode, held, atBoundary }: TextCallState, text: string): boolean {
  return mode === "prose" && held === "" && !atBoundary && !TAG_STARTS.some((start) => text.includes(start));
}

/** The answer has ended: the held text is a call or plain text. */
export function finishText(state: TextCallState, offered: readonly ToolSpec[]): readonly TextPart[] {
  return finish(state, withOtherNames(offered));
}

function finish(state: TextCallState, tools: readonly ToolSpec[]): readonly TextPart[] {
  const { mode, held, atBoundary } = state;
  if (held === "" || (atBoundary && held.trim() === "")) return [];
  if (mode === "json") {
    const calls = readJsonCalls(held, tools);
    if (calls !== undefined) return calls.map((call) => ({ type: "call", call }));
  }
  if (mode === "json" || mode === "undecided") {
    const { state: rest, parts } = scan(state, tools);
    return [...parts, ...finish(rest, tools)];
  }
  // Many models stop at the end of the call without closing it.
  const found = mode === "tag" ? nextTag(held) : undefined;
  const calls = found?.tag.read(held.slice(found.at + found.tag.open.length), { tools, end: "open" });
  return calls === undefined ? [{ type: "text", text: held }] : calls.map((call) => ({ type: "call", call }));
}

/** Lets prose through up to the next tag, and takes whole tags out of it. */
function scan(before: TextCallState, tools: readonly ToolSpec[]): Outcome {
  const parts: TextPart[] = [];
  let { held, passed, atBoundary } = before;
  const pass = (end: number) => {
    if (end === 0) return;
    const text = held.slice(0, end);
    parts.push({ type: "text", text });
    passed += text;
    held = held.slice(end);
    atBoundary = false;
  };
  let { tail } = before;
  const outcome = (mode: "prose" | "tag"): Outcome => ({ state: { mode, held, passed, atBoundary, tail }, parts });
  for (;;) {
    const next = held.trimStart();
    if (tail !== undefined && next.startsWith(tail)) {
      held = next.slice(tail.length);
      tail = undefined;
    } else if (tail?.startsWith(next)) return outcome("prose");
    else tail = undefined;
    const found = nextTag(held);
    const prose = found?.at ?? held.length - possibleTagStart(held);
    if (!atBoundary || held.slice(0, prose).trim() !== "") pass(prose);
    if (found === undefined) return outcome("prose");
    const { open, close, judge, read } = found.tag;
    const inside = held.indexOf(open) + open.length;
    const verdict = isInsideFence(passed) ? "prose" : judge(held.slice(inside), tools);
    if (verdict === "prose") {
      pass(inside);
      continue;
    }
    const end = close === undefined ? -1 : held.indexOf(close, inside);
    if (close === undefined || end === -1) return outcome(verdict === "call" ? "tag" : "prose");
    const calls = read(held.slice(inside, end), { tools, end: "closed" });
    if (calls === undefined) {
      pass(end + close.length);
      continue;
    }
    for (const call of calls) parts.push({ type: "call", call });
    held = held.slice(end + close.length);
    atBoundary = true;
    tail = found.tag.tail;
  }
}

interface FoundTag {
  readonly at: number;
  readonly tag: CallTag;
}

function nextTag(text: string): FoundTag | undefined {
  let first: FoundTag | undefined;
  for (const tag of CALL_TAGS) {
    const at = text.indexOf(tag.open);
    if (at !== -1 && (first === undefined || at < first.at)) first = { at, tag };
  }
  return first;
}

/** Tells how much of the end could be the beginning of a tag. */
function possibleTagStart(text: string): number {
  const at = Math.max(...TAG_STARTS.map((start) => text.lastIndexOf(start)));
  if (at === -1) return 0;
  // A tag may contain a second start character, so both are checked.
  for (const from of [text.lastIndexOf(TAG_STARTS[0], at - 1), at]) {
    const end = text.slice(Math.max(0, from));
    if (from !== -1 && CALL_TAGS.some(({ open }) => open.startsWith(end))) return end.length;
  }
  return 0;
}

function isInsideFence(passed: string): boolean {
  return (passed.match(/^[ \t]*```/gm)?.length ?? 0) % 2 === 1;
}
