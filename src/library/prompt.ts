/** Options and results of a prompt and of a compaction. */
import type { Failure } from "../protocol/errors.js";
import type { Usage } from "../protocol/usage.js";

export interface PromptOptions {
  /** Cancels the prompt. */
  readonly signal?: AbortSignal | undefined;
  /** While another prompt runs, waits for its end instead of being refused. */
  readonly queue?: boolean | undefined;
  /** While another prompt runs, goes to the model with the results of its next calls; after the last of them, waits as `queue` does. */
  readonly steer?: boolean | undefined;
  /** Images for the model; `data` is base64. */
  readonly images?: readonly { readonly media_type: string; readonly data: string }[] | undefined;
  /** Audio for the model, as base64; a model that takes none refuses it. */
  readonly audio?: readonly { readonly media_type: string; readonly data: string }[] | undefined;
}

export interface PromptResult {
  /** `limit`: maxTurns or a budget was reached before the model had a final answer. */
  readonly outcome: "answered" | "limit";
  /** The limit that was reached, where it is a budget. */
  readonly stoppedBy?: Failure;
  /** The text of the last answer. */
  readonly text: string;
  /** The number of model calls. */
  readonly turns: number;
  readonly usage: Usage;
  /** The cost in US dollars, with a budget or a price and if the price is known. */
  readonly usd?: number;
  /** The last answer stopped at maxTokens. */
  readonly truncated: boolean;
}

export interface CompactOptions {
  /** Words on what the summary must keep. */
  readonly keep?: string | undefined;
  /** Cancels it. */
  readonly signal?: AbortSignal | undefined;
}

export interface CompactResult {
  /** False if the conversation was too short; then nothing changed. */
  readonly shortened: boolean;
  /** Of the next request, by estimate. */
  readonly tokens?: { readonly before: number; readonly after: number };
}

export const KNOWN_PROMPT: Readonly<Record<keyof PromptOptions, true>> = {
  signal: true,
  queue: true,
  steer: true,
  images: true,
  audio: true,
};
export const KNOWN_COMPACT: Readonly<Record<keyof CompactOptions, true>> = { keep: true, signal: true };
