/**
 * One part of the conversation on the screen. A block contains the data from the engine, unescaped and unwrapped; `renderBlock` turns
 * it into safe lines for a width. A finished block is printed once.
 */
import type { ResultContent } from "../../../protocol/content.js";
import type { ToolStatus, TurnOutcome } from "../../../protocol/events.js";
import type { CallId, SessionId } from "../../../protocol/ids.js";
import type { JsonObject } from "../../../protocol/json.js";

export type Block =
  /** An input of the user. */
  | {
      readonly kind: "prompt";
      readonly text: string;
      readonly images: number;
      readonly audio?: number;
      readonly steered?: true;
    }
  /** The model's text, in Markdown. */
  | { readonly kind: "answer"; readonly markdown: string }
  /** `elapsedMs` is absent while the model thinks. */
  | { readonly kind: "thinking"; readonly text: string; readonly elapsedMs?: number }
  | ToolBlock
  /** Output of a slash command: plain text. */
  | { readonly kind: "command"; readonly line: string; readonly text: string; readonly failed?: true }
  /** A `!command` of the user. */
  | { readonly kind: "shell"; readonly command: string; readonly output: string; readonly exitCode?: number }
  | { readonly kind: "notice"; readonly level: "info" | "warning" | "error"; readonly text: string }
  | {
      readonly kind: "turn-end";
      readonly outcome: TurnOutcome;
      readonly elapsedMs: number;
      /** Tokens, speed and cost in one line. */
      readonly summary: string;
      readonly failure?: string;
    };

export interface AgentFacts {
  readonly session: SessionId;
  readonly type: string;
  readonly description: string;
  /** Calls and tokens so far. */
  readonly calls: number;
  readonly tokens: number;
}

export interface ToolBlock {
  readonly kind: "tool";
  readonly call: CallId;
  readonly tool: string;
  readonly args: JsonObject;
  /** The output so far, at most the last 64 KiB. */
  readonly progress: string;
  /** By the client's clock. */
  readonly startedAt: number;
  /** Absent while it runs. */
  readonly result?: {
    readonly status: ToolStatus;
    readonly content: readonly ResultContent[];
    readonly details?: JsonObject;
    readonly endedAt: number;
  };
  /** Calls of a subagent, nested below it. */
  readonly children?: readonly ToolBlock[];
  /** The subagent that the call started. */
  readonly agent?: AgentFacts;
}
