/**
 * Ends the turn that was interrupted when an earlier run stopped.
 *
 * 1. A call that may have changed something never runs again: the user has said how it ended, or the sandbox knows it.
 * 2. A call that only reads runs again; one that had not started does not run.
 * 3. Every open question gets its end, every open call its result and the turn its end, so that the log is complete again.
 */
import { AbortNode } from "../base/abort-tree.js";
import type { Bus } from "../engine/bus.js";
import { compose } from "../engine/compose.js";
import type { EnginePorts, ToolOutcome } from "../engine/ports.js";
import { Timing } from "../engine/timing.js";
import { ownText, type ToolResultBlock, text } from "../protocol/content.js";
import { failure } from "../protocol/errors.js";
import type { CallId, TurnId } from "../protocol/ids.js";
import type { JsonObject } from "../protocol/json.js";
import type { Usage } from "../protocol/usage.js";

export interface CutOffTurn {
  readonly turn: TurnId;
  readonly text: string;
  readonly iterations: number;
  readonly usage: Usage;
}

export interface CutOffCall {
  readonly call: CallId;
  readonly tool: string;
  readonly args: JsonObject;
  /**
   * For a call that started and has no recorded result: the user's answer, or what the sandbox knows about one whose changes are applied as a
   * whole or not at all.
   */
  readonly verdict?: {
    readonly verdict: "failed" | "succeeded" | "applied" | "not applied";
    readonly note?: string | undefined;
  };
}

export interface CutOffWork {
  readonly bus: Bus;
  readonly ports: EnginePorts;
  readonly calls: readonly CutOffCall[];
  /** Questions that waited for an answer. */
  readonly questions: readonly Pick<CutOffCall, "call" | "tool">[];
  readonly turn: CutOffTurn | undefined;
}

export async function endCutOffTurn(work: CutOffWork): Promise<ReadonlyMap<CallId, ToolResultBlock>> {
  const results = new Map<CallId, ToolResultBlock>();
  for (const { call, tool } of work.questions) {
    work.bus.publish("PermissionResolved", { call, tool, decision: "deny", decided_by: "interrupted" });
  }
  for (const cutOff of work.calls) {
    const { call, tool } = cutOff;
    const { status, content, details } = await outcomeOf(cutOff, work.ports);
    work.bus.publish("ToolResult", { call, tool, status, content, ...(details && { details }) });
    results.set(call, { type: "tool_result", call, tool, content, is_error: status !== "ok" });
  }
  if (work.turn !== undefined) {
    work.bus.publish("TurnEnded", { ...work.turn, outcome: "failed", failure: failure("Interrupted") });
  }
  return results;
}

async function outcomeOf(cutOff: CutOffCall, ports: EnginePorts): Promise<ToolOutcome> {
  const { verdict, note } = cutOff.verdict ?? {};
  if (verdict === "failed") return outcomeByUser("error", "failed", note);
  if (verdict === "applied" || verdict === "not applied") return outcomeOfWhole(verdict, note);
  if (verdict === "succeeded") return outcomeByUser("ok", "succeeded", note);
  const definition = ports.tools.find(cutOff.tool);
  if (definition === undefined || definition.mutating) {
    return { status: "cancelled", content: [ownText("Not run: the program was stopped before this call began.")] };
  }
  const abort = new AbortNode();
  const timing = new Timing(ports.clock);
  const chain = compose(ports.toolLinks, (call, context) => definition.run(call.args, context), {
    timing,
    prefix: "tool-link",
  });
  try {
    return await chain(cutOff, { definition, signal: abort.signal, progress: () => {} });
  } catch (error) {
    return { status: "error", content: [text(error instanceof Error ? error.message : String(error))] };
  } finally {
    abort.dispose();
  }
}

function outcomeOfWhole(verdict: "applied" | "not applied", note: string | undefined): ToolOutcome {
  const words =
    verdict === "applied"
      ? `The program was stopped after this had ended, and its output is lost. Its changes were applied. ${note ?? ""}`
      : "The program was stopped while this ran. Its changes were not applied: the workspace is as it was before. Run it again if needed.";
  return { status: verdict === "applied" ? "ok" : "cancelled", content: [ownText(words.trim())] };
}

function outcomeByUser(status: "ok" | "error", word: string, note: string | undefined): ToolOutcome {
  const words = `The program was stopped while this ran, and its output is lost. The user checked and says that it ${word}.`;
  return { status, content: [ownText(note ? `${words} ${note}` : words)] };
}
