/** A tool call as the clients show it: what the engine says, unescaped and unwrapped. */
import type { ResultContent } from "../../../protocol/content.js";
import type { ToolKind, ToolStatus } from "../../../protocol/events.js";
import type { CallId, SessionId } from "../../../protocol/ids.js";
import type { JsonObject } from "../../../protocol/json.js";

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
  readonly toolKind?: ToolKind;
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
