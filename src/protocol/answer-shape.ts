/** Describes how an answer of a model is built, and why it ended. */
import type { OpaqueBlock, YieldBlock } from "./content.js";
import type { CallId } from "./ids.js";

/** Describes what the deltas and calls of an answer do not show; a field is absent if they do. */
export interface AnswerShape {
  /** The number of its calls, if some are announced only after this event. */
  readonly calls?: number;
  /**
   * Its blocks in the model's order. Absent: thinking, then text, at most one block of each, then the calls. `deltas` counts the
   * delta events of a block, so that it stays valid when their text expires.
   */
  readonly blocks?: readonly AnswerBlock[];
  /** It was cut off; there is no more of it. */
  readonly interrupted?: true;
}

/** Explains why a model stopped. */
export type StopReason = "end" | "tool_calls" | "length" | "refusal" | "pause";

export type AnswerBlock =
  | { readonly type: "text"; readonly deltas: number }
  | { readonly type: "thinking"; readonly deltas: number }
  | { readonly type: "tool_use"; readonly call: CallId; readonly malformed?: string }
  | OpaqueBlock
  | YieldBlock;
