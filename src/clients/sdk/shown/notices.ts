/** Events that the client shows as one sentence. */
import { gapText } from "../../../base/gap-text.js";
import { groupDigits } from "../../../base/group-digits.js";
import { hookText } from "../../../base/hook-text.js";
import type { Envelope } from "../../../protocol/envelope.js";

export interface NoticeBlock {
  readonly kind: "notice";
  readonly level: "info" | "warning" | "error";
  readonly text: string;
}

/** Undefined for an event without a sentence; `progress` replaces the text of the working line. */
export function noticeOf(event: Envelope): NoticeBlock | { readonly progress: string } | undefined {
  switch (event.kind) {
    case "Notice":
      return event.payload.level === "progress"
        ? { progress: event.payload.message }
        : say(event.payload.offer ? "info" : "warning", event.payload.message);
    case "RateLimited":
    case "Retrying":
      return { progress: event.payload.message };
    case "FailedOver": {
      const { to, message } = event.payload;
      return say("warning", `${message} ${to.provider}:${to.model} answers instead.`);
    }
    case "ModelRouted": {
      const { provider, model, route, rule } = event.payload;
      return say("info", `${provider}:${model} answers (@${route}: ${rule}).`);
    }
    case "StreamGap":
      return say("warning", gapText(event.payload));
    case "ContextNearlyFull": {
      const { used, window } = event.payload;
      const share = Math.min(100, Math.round((used / window) * 100));
      return say("warning", `The conversation fills ${share} % of the context window. /compact shortens it.`);
    }
    case "CompactionTriggered": {
      const { reason, tokens } = event.payload;
      if (reason === "asked" || event.payload.summary === undefined) return undefined;
      const counts =
        tokens === undefined ? "" : ` from ${groupDigits(tokens.before)} to ${groupDigits(tokens.after)} tokens`;
      return say("info", `The conversation was shortened${counts}.`);
    }
    // What the user gathered with a command is no news; what retrieval found is.
    case "ContextAdded": {
      const [, passages] = /^retrieval from (.+)$/s.exec(event.payload.source) ?? [];
      return passages === undefined ? undefined : say("info", `Passages of ${passages}`);
    }
    case "ToolResultChanged": {
      const { by, tool } = event.payload;
      return say("info", `The hook ${by} changed the result of ${tool}.`);
    }
    case "HookTimeout":
    case "HookError":
      return say("warning", hookText(event));
    case "MCPServerDown":
      return say("warning", `The MCP server ${event.payload.name} stopped: ${event.payload.reason}`);
    case "TokenExpiring":
      return say("warning", "Your sign-in expires soon.");
    default:
      return undefined;
  }
}

function say(level: NoticeBlock["level"], text: string): NoticeBlock {
  return { kind: "notice", level, text };
}
