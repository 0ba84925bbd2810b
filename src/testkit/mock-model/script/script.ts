/**
 * A script as data: what the mock model answers, call by call. `parse.ts` reads it from a file, `builder.ts` makes it in code.
 *
 * 1. Replies without a condition are used in order. A reply whose condition holds comes before them.
 * 2. A reply is used `times` times (default: once), then never again, unless the script loops.
 * 3. Settings (usage, stop, headers, split, flush, expect) apply to the whole reply, wherever they are; actions happen in order.
 */
import type { JsonValue } from "../../../protocol/json.js";
import type { Usage } from "../../../protocol/usage.js";

export interface Script {
  readonly replies: readonly Reply[];
  /** Says what happens after the last reply: start over, or (default) answer `SCRIPT_ENDED`. */
  readonly atEnd?: "loop" | "say-so";
  /** The models that exist. Default: the hosted wires accept every name and Ollama has `DEFAULT_MODEL`. */
  readonly models?: readonly ModelSpec[];
}

export const SCRIPT_ENDED = "[mock: script ended]";

export interface ModelSpec {
  readonly name: string;
  readonly contextLength?: number;
  readonly capabilities?: readonly string[];
  /** The rest is for Ollama. `no`: it can be pulled. */
  readonly installed?: "yes" | "no";
  readonly bytes?: number;
  /** Says how long it takes to load the model, or to load it with another context, before the first byte. */
  readonly loadMs?: number;
  readonly pullMs?: number;
  /** Says what happens to a prompt that does not fit if the client asks not to truncate it; servers of 2024 ignore that field. */
  readonly cut?: "refused" | "silent";
}

export const DEFAULT_MODEL: Required<ModelSpec> = {
  name: "mock-model",
  contextLength: 131_072,
  capabilities: ["completion", "tools", "thinking", "vision"],
  installed: "yes",
  bytes: 4_683_075_271,
  loadMs: 0,
  pullMs: 0,
  cut: "refused",
};

export interface Reply {
  /** The place where the reply starts in its file. */
  readonly line?: number;
  /** Says how many calls it answers; `Infinity` for all. */
  readonly times?: number;
  readonly when?: readonly Condition[];
  readonly expect?: readonly Condition[];
  /** Missing counts are estimated; "none" leaves the usage out of the answer. */
  readonly usage?: Partial<Usage> | "none";
  /** One of `STOP_REASONS`, translated to each wire's own word, or a literal of the wire. */
  readonly stop?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly split?: Split;
  /** Write each delta to the socket separately. */
  readonly flush?: "each-delta";
  readonly actions: readonly Action[];
}

export const STOP_REASONS = ["end", "tool", "length", "refusal", "pause", "stop-sequence"] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** Describes how the bytes of the body are split. */
export type Split = { readonly bytes: number } | { readonly seed: number };

/* ---- actions ---- */

export interface Pace {
  /** Into how many deltas the text is cut. */
  readonly chunks?: number;
  /** Says how many characters a delta has. */
  readonly size?: number;
  /** Pause after each delta. */
  readonly everyMs?: number;
}

export interface TextAction extends Pace {
  readonly type: "text";
  readonly text: string;
  readonly repeat?: number;
}

export interface ThinkingAction extends Pace {
  readonly type: "thinking";
  readonly text: string;
  readonly repeat?: number;
  readonly signature?: string;
}

export interface RedactedThinkingAction {
  readonly type: "redacted-thinking";
  readonly data: string;
}

export interface ToolAction extends Pace {
  readonly type: "tool";
  readonly name: string;
  /** The argument text as it is sent: JSON, or deliberately broken text. */
  readonly args: string;
  readonly id?: string;
}

/** The output of a model. */
export type Part = TextAction | ThinkingAction | RedactedThinkingAction | ToolAction;

export interface ErrorAction {
  readonly type: "error";
  readonly kind?: ErrorKind;
  readonly status?: number;
  readonly message?: string;
  /** Literal values that replace the kind's own. */
  readonly errorType?: string;
  readonly code?: string;
  readonly retryAfterMs?: number;
}

export const ERROR_KINDS = [
  "bad-request",
  "auth",
  "quota",
  "permission",
  "not-found",
  "too-large",
  "too-long",
  "rate-limit",
  "server",
  "overloaded",
  "timeout",
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

/** Describes what is sent beside or instead of a regular answer. */
export type Noise =
  | { readonly type: "ping" }
  | { readonly type: "comment"; readonly text: string }
  | { readonly type: "event"; readonly name: string; readonly data: string }
  | { readonly type: "garbage"; readonly text: string }
  | { readonly type: "raw"; readonly text: string };

export type Action =
  | Part
  | Noise
  | ErrorAction
  | { readonly type: "delay"; readonly ms: number }
  /** Sends the headers and the opening of the stream now. */
  | { readonly type: "start" }
  | { readonly type: "html"; readonly status: number; readonly text: string }
  /** Closes the connection in the middle of the answer. */
  | { readonly type: "drop"; readonly how: "close" | "reset" }
  /** Ends the response regularly, but before the answer is complete. */
  | { readonly type: "cut" }
  /** Sends nothing more and keeps the connection. */
  | { readonly type: "hang" };

const LAST_ACTIONS: ReadonlySet<Action["type"]> = new Set(["error", "html", "drop", "cut", "hang"]);

/** Tells why an action cannot follow those before it. */
export function misplaced(action: Action, before: readonly Action[]): string | undefined {
  const last = before.at(-1);
  if (last !== undefined && LAST_ACTIONS.has(last.type)) {
    return `nothing is sent after "${last.type}", so "${action.type}" cannot follow it`;
  }
  if (action.type === "html" && before.some(({ type }) => type !== "delay")) {
    return '"html" replaces the whole answer, so only "delay" can come before it';
  }
  return undefined;
}

/* ---- conditions ---- */

export interface Condition {
  /** One of `SUBJECTS`, `header NAME`, or `body.PATH`. */
  readonly subject: string;
  readonly not?: true;
  readonly test: Test;
  readonly line?: number;
}

export type Test =
  | { readonly contains: string }
  | { readonly is: JsonValue }
  | { readonly matches: RegExp }
  | { readonly exists: true }
  | { readonly atLeast: number }
  | { readonly atMost: number };

export const SUBJECTS = [
  "last-user",
  "last-tool-result",
  "tool-results",
  "system",
  "model",
  "wire",
  "messages",
  "tools",
  "stream",
  "path",
  "body",
] as const;
