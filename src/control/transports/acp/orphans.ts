/** Asks the user about calls that ran when an earlier process was stopped: their result is unknown, so only the user can say it. */
import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { safeText } from "../../../base/terminal-text.js";
import type { OrphanVerdict } from "../../../protocol/commands.js";
import type { Failure } from "../../../protocol/errors.js";
import type { SessionId } from "../../../protocol/ids.js";
import { requestError } from "./errors.js";
import { textContent } from "./tool-calls.js";

const OPTIONS = [
  { optionId: "succeeded", name: "It succeeded", kind: "allow_once" },
  { optionId: "failed", name: "It failed", kind: "reject_once" },
] as const;

export async function askAboutOrphans(
  failure: Failure,
  session: SessionId,
  ask: (request: RequestPermissionRequest) => Promise<RequestPermissionResponse>,
): Promise<{ readonly verdict: OrphanVerdict }> {
  const toolCall = {
    toolCallId: `${session}-interrupted`,
    title: "How did the interrupted call end?",
    status: "pending" as const,
    content: [textContent(safeText(failure.message))],
  };
  const { outcome } = await ask({ sessionId: session, toolCall, options: [...OPTIONS] }).catch(() => {
    throw requestError(failure);
  });
  const chosen = outcome.outcome === "selected" && OPTIONS.find(({ optionId }) => optionId === outcome.optionId);
  if (!chosen) throw requestError(failure);
  return { verdict: chosen.optionId };
}
