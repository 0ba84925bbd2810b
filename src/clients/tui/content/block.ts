/**
 * One part of the conversation on the screen. A block contains the data from the engine, unescaped and unwrapped; `renderBlock` turns
 * it into safe lines for a width. A finished block is printed once.
 */
import type { TurnOutcome } from "../../../protocol/events.js";
import type { NoticeBlock } from "../../sdk/shown/notices.js";
import type { ToolBlock } from "../../sdk/shown/tool-block.js";

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
  | {
      readonly kind: "shell";
      readonly command: string;
      /** The model does not get the output. */
      readonly unshared?: boolean;
      readonly output: string;
      readonly exitCode?: number;
    }
  | NoticeBlock
  | {
      readonly kind: "turn-end";
      readonly outcome: TurnOutcome;
      readonly elapsedMs: number;
      /** Tokens, speed and cost in one line. */
      readonly summary: string;
      readonly failure?: string;
    };
