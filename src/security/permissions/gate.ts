/**
 * Decisions by mode and session alone, for callers that have neither files nor commands to judge by. `engine.ts` decides with all
 * the facts; both follow the laws in `decide.ts`.
 */
import type { Tool, ToolCall } from "../../engine/ports.js";
import type { PermissionDecision } from "../../protocol/events.js";
import { SAFE_MODE_OFF } from "../safe-mode/safe-mode.js";
import { decide, type PermissionPolicy } from "./decide.js";
import type { DecisionFacts } from "./facts.js";
import type { PermissionMode } from "./modes.js";
import { NO_PATH_PERMISSIONS } from "./path-permissions.js";
import { SessionRules } from "./session-rules.js";
import type { Verdict } from "./verdict.js";

export type { PermissionMode } from "./modes.js";
export type { Verdict } from "./verdict.js";

export class PermissionGate {
  readonly mode: PermissionMode;
  readonly #policy: PermissionPolicy;
  readonly #session = new SessionRules();

  constructor(mode: PermissionMode) {
    this.mode = mode;
    this.#policy = {
      mode,
      preset: "quiet",
      edits: "ask",
      rules: [],
      workspace: "/",
      ownFolders: [],
      paths: NO_PATH_PERMISSIONS,
      safeMode: SAFE_MODE_OFF,
    };
  }

  judge(call: ToolCall, tool: Pick<Tool, "name" | "set" | "mutating">): Verdict {
    return decide(factsOf(call, tool), this.#policy, this.#session.list());
  }

  remember(call: ToolCall, decision: PermissionDecision, { verdict }: { readonly verdict: Verdict }): void {
    if (decision === "allow_tool") this.#session.add([{ kind: "tool", tool: call.tool }], "human");
    if (decision === "allow_pattern") this.#session.add(verdict.offer ?? [], "human");
  }
}

function factsOf(call: ToolCall, { name, set, mutating }: Pick<Tool, "name" | "set" | "mutating">): DecisionFacts {
  return {
    tool: { name, set, mutating, origin: "built-in" },
    args: call.args,
    paths: [],
    originator: "human",
    sandboxed: false,
    planMode: false,
  };
}
