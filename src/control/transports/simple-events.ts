/** The events of a harness: complete blocks only, in order. */
import type { JsonObject } from "../../protocol/json.js";

export type HarnessState = "thinking" | "running tool" | "idle";

export interface HarnessStatus {
  readonly state: HarnessState;
  /** One line for the user. With `idle` it gives the outcome of the prompt, including a failure. */
  readonly message: string;
}

export type HarnessEvent =
  | { readonly type: "user"; readonly content: string }
  | { readonly type: "text"; readonly content: string }
  | { readonly type: "reasoning"; readonly content: string }
  | { readonly type: "tool_call"; readonly id: string; readonly name: string; readonly input: JsonObject }
  | { readonly type: "tool_result"; readonly id: string; readonly result: string; readonly isError: boolean }
  | ({ readonly type: "status" } & HarnessStatus);
