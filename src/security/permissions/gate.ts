/**
 * Whether a tool call may run (feature P1, its simplest form): by mode, by what the tool is, and by what a person has allowed
 * for this session. Pure but for the memory of those answers, which is never written down.
 */
import type { Tool, ToolCall } from "../../engine/ports.js";
import type { PermissionDecision } from "../../protocol/events.js";

export const PERMISSION_MODES = ["allow", "ask", "deny"] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

export function isPermissionMode(value: string): value is PermissionMode {
  return (PERMISSION_MODES as readonly string[]).includes(value);
}

export interface Verdict {
  readonly decision: "allow" | "ask" | "deny";
  /** The mode, preset or answer that decided. */
  readonly decidedBy: string;
}

export class PermissionGate {
  readonly mode: PermissionMode;
  readonly #allowedTools = new Set<string>();
  readonly #allowedCalls = new Set<string>();

  constructor(mode: PermissionMode) {
    this.mode = mode;
  }

  judge(call: ToolCall, tool: Tool): Verdict {
    if (this.mode === "deny") return { decision: "deny", decidedBy: "mode deny" };
    if (this.mode === "allow") return { decision: "allow", decidedBy: "mode allow" };
    if (!tool.mutating) return { decision: "allow", decidedBy: "read-only tool" };
    if (this.#allowedTools.has(tool.name)) return { decision: "allow", decidedBy: "allowed for this session (tool)" };
    if (this.#allowedCalls.has(fingerprint(call))) {
      return { decision: "allow", decidedBy: "allowed for this session (same call)" };
    }
    return { decision: "ask", decidedBy: "mode ask" };
  }

  remember(call: ToolCall, decision: PermissionDecision): void {
    if (decision === "allow_tool") this.#allowedTools.add(call.tool);
    if (decision === "allow_pattern") this.#allowedCalls.add(fingerprint(call));
  }
}

function fingerprint(call: ToolCall): string {
  return `${call.tool} ${JSON.stringify(call.args)}`;
}

/** One line a person can decide on. */
export function summarize(call: ToolCall): string {
  const { command, path } = call.args;
  if (typeof command === "string") return `${call.tool}: ${command}`;
  if (typeof path === "string") return `${call.tool} ${path}`;
  const args = JSON.stringify(call.args);
  return `${call.tool} ${args.length > 200 ? `${args.slice(0, 197)}…` : args}`;
}
