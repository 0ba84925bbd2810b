/** What a harness tells while it works: complete blocks only, in the order they came about. */
import type { JsonObject } from "../../protocol/json.js";

export type HarnessState = "thinking" | "running tool" | "idle";

export interface HarnessStatus {
  readonly state: HarnessState;
  /** One line for a person. With `idle` it says how the prompt ended, so a client sees a failure here. */
  readonly message: string;
}

export type HarnessEvent =
  | { readonly type: "user"; readonly content: string }
  | { readonly type: "text"; readonly content: string }
  | { readonly type: "reasoning"; readonly content: string }
  | { readonly type: "tool_call"; readonly id: string; readonly name: string; readonly input: JsonObject }
  | { readonly type: "tool_result"; readonly id: string; readonly result: string; readonly isError: boolean }
  | ({ readonly type: "status" } & HarnessStatus);
