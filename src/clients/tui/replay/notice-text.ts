/** The text of the rarer events. */
import { formatDuration } from "../../../base/duration.js";
import { groupDigits } from "../../../base/group-digits.js";
import { subagentLine } from "../../../base/subagent-line.js";
import { plainText, resultText } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import { jsonText } from "./argument-text.js";

/** Those that are no part of an answer. */
export type Happening = Exclude<
  Envelope,
  { kind: "ThinkingDelta" | "TextDelta" | "ToolCallProgress" | "AnswerEnded" | "CostIncremented" | "TurnTiming" }
>;

type Rarer = Exclude<
  Happening,
  {
    kind: "TurnStarted" | "ToolCallStarted" | "ToolResult" | "PermissionRequested" | "PermissionResolved" | "TurnEnded";
  }
>;

export function describeNotice(event: Rarer): { title: string; text: string } {
  switch (event.kind) {
    case "Error":
      return { title: `error: ${event.payload.reason}`, text: event.payload.message };
    case "Cancelled":
      return { title: "cancelled", text: event.payload.by === "" ? "" : `by ${event.payload.by}` };
    case "Notice":
      return { title: event.payload.level, text: event.payload.message };
    case "StreamGap": {
      const { from, to, reason } = event.payload;
      return { title: "gap in the log", text: `Events ${from}–${to} are missing: ${reason}` };
    }
    case "CompactionTriggered": {
      const { reason, summary } = event.payload;
      return { title: "conversation compacted", text: [reason, summary ?? ""].join("\n\n").trim() };
    }
    case "RateLimited":
    case "Retrying":
      return { title: `${event.payload.provider}: attempt ${event.payload.attempt}`, text: event.payload.message };
    case "AnswerRetracted":
      return { title: "the answer started again", text: "The part before this is discarded." };
    case "FailedOver": {
      const { from, to, message } = event.payload;
      const title = `${from.provider}:${from.model} → ${to.provider}:${to.model}`;
      return { title, text: message };
    }
    case "ModelRouted": {
      const { provider, model, route, rule } = event.payload;
      return { title: `${provider}:${model}`, text: `Chosen by @${route}: ${rule}.` };
    }
    case "InputQueued":
      return { title: `input waits (${event.payload.delivery})`, text: plainText(event.payload.input) };
    case "InputSteered":
      return { title: "input while the turn ran", text: plainText(event.payload.input) };
    case "InputDropped":
      return { title: "input not sent", text: event.payload.inputs.map(plainText).join("\n\n") };
    case "ContextAdded":
      return { title: `added by ${event.payload.source}`, text: event.payload.text };
    case "ToolResultChanged": {
      const { by, tool, content } = event.payload;
      return { title: `result of ${tool} changed by ${by}`, text: resultText(content) };
    }
    case "HookTimeout":
      return {
        title: `hook timed out: ${event.payload.event}`,
        text: `${event.payload.command} took longer than ${formatDuration(event.payload.timeout_ms)}.`,
      };
    case "HookError":
      return {
        title: `hook failed: ${event.payload.event}`,
        text: `${event.payload.command} ended with exit code ${event.payload.exit_code}.`,
      };
    case "MCPServerDown": {
      const { name, reason, attempts } = event.payload;
      return { title: `MCP server down: ${name}`, text: `${reason} (after ${attempts} attempts)` };
    }
    case "SkillRegistryChanged": {
      const { added, removed } = event.payload;
      const names = [...added.map((name) => `+ ${name}`), ...removed.map((name) => `- ${name}`)];
      return { title: "skills changed", text: names.join("\n") };
    }
    case "RerunBegan": {
      const { of, from, recorded } = event.payload;
      return {
        title: `runs turn ${from} of ${of} again`,
        text: recorded ? "With its recorded results: no tool runs." : "",
      };
    }
    case "ModeChanged":
      return { title: `mode: ${event.payload.mode}`, text: "" };
    case "ContextNearlyFull": {
      const { model, used, window } = event.payload;
      return {
        title: "context window almost full",
        text: `${groupDigits(used)} of ${groupDigits(window)} tokens of ${model}`,
      };
    }
    case "SubagentStarted":
      return { title: `subagent ${event.payload.type} started`, text: event.payload.description };
    case "SubagentProgress":
      return { title: "subagent", text: subagentLine(event.payload) };
    case "SubagentEnded": {
      const { type, outcome, elapsed_ms } = event.payload;
      return { title: `subagent ${type}: ${outcome}`, text: `after ${formatDuration(elapsed_ms)}` };
    }
    case "SessionContinued":
      return { title: "continued after an interruption", text: "" };
    case "TokenExpiring":
      return { title: "token expires soon", text: event.payload.jti };
    case "SessionEnded":
      return { title: `session ended: ${event.payload.reason}`, text: "" };
    case "CustomEvent": {
      const { namespace, kind, payload } = event.payload;
      const text = typeof payload === "string" ? payload : jsonText(payload);
      return { title: `${namespace}: ${kind}`, text };
    }
    default:
      // An event of a newer version.
      return { title: (event satisfies never as Envelope).kind, text: "" };
  }
}
