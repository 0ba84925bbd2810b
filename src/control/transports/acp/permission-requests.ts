/**
 * Questions of a session as permission requests of the editor.
 *
 * 1. Only an option that was offered counts; anything else, also an error of the editor, denies.
 * 2. A question that another client answers first, or that times out, is withdrawn.
 */
import type { PermissionOption, RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { safeLine, safeText } from "../../../base/terminal-text.js";
import type { EngineClient } from "../../../protocol/client.js";
import type { CommandPayloads } from "../../../protocol/commands.js";
import { humanWait } from "../../../protocol/errors.js";
import type { EventPayloads, PermissionDecision } from "../../../protocol/events.js";
import type { CallId, SessionId } from "../../../protocol/ids.js";
import { proposedDiffs } from "./diff-content.js";
import { type ElicitInEditor, elicitationOf, answerOf as elicitedAnswer } from "./elicitations.js";
import { pendingCall, quotedContent, textContent } from "./tool-calls.js";

type Question = EventPayloads["PermissionRequested"];

export type AskEditor = (
  request: RequestPermissionRequest,
  options: { readonly signal: AbortSignal },
) => Promise<RequestPermissionResponse>;

type Answer = Pick<CommandPayloads["AnswerPermission"], "decision" | "message">;

interface Place {
  readonly client: EngineClient;
  readonly session: SessionId;
  readonly cwd: string;
  readonly ask: AskEditor;
  /** Undefined if the editor shows no forms. */
  readonly elicit?: ElicitInEditor | undefined;
}

export class PermissionRequests {
  readonly #place: Place;
  readonly #open = new Map<CallId, AbortController>();

  constructor(place: Place) {
    this.#place = place;
  }

  async ask(question: Question): Promise<void> {
    const { client, session } = this.#place;
    const { call } = question;
    const withdrawn = new AbortController();
    this.#open.set(call, withdrawn);
    const answer = await this.#answer(question, withdrawn).catch(() => ({ decision: "deny" as const }));
    if (withdrawn.signal.aborted) return;
    this.#open.delete(call);
    await client.send("AnswerPermission", { call, ...answer }, session);
  }

  async #answer(question: Question, withdrawn: AbortController): Promise<Answer> {
    const { session, cwd, ask, elicit } = this.#place;
    if (question.form !== undefined && elicit !== undefined)
      return elicitedAnswer(await elicit(elicitationOf(question, session), withdrawn));
    const options = optionsOf(question);
    const request = { sessionId: session, toolCall: askedCall(question, cwd), options: [...options] };
    const { outcome } = await ask(request, withdrawn);
    return { decision: decisionOf(outcome, options) };
  }

  /** The question has an answer. */
  withdraw(call: CallId): void {
    this.#open.get(call)?.abort();
    this.#open.delete(call);
  }
}

function decisionOf(
  outcome: RequestPermissionResponse["outcome"],
  options: readonly PermissionOption[],
): PermissionDecision {
  if (outcome.outcome !== "selected") return "deny";
  const chosen = options.find(({ optionId }) => optionId === outcome.optionId);
  return (chosen?.optionId as PermissionDecision | undefined) ?? "deny";
}

/** The ids are the decisions of the engine. A choice that the engine would not keep is not offered. */
export function optionsOf({ tool, offer = [], once_only: onceOnly }: Question): readonly PermissionOption[] {
  const options: PermissionOption[] = [{ optionId: "allow_once", name: "Allow once", kind: "allow_once" }];
  if (!onceOnly && offer.length > 0) {
    const pattern = offer.map((line) => safeLine(line)).join(", ");
    options.push({ optionId: "allow_pattern", name: `For this session, allow ${pattern}`, kind: "allow_always" });
  }
  if (!onceOnly) {
    const name = `For this session, allow every call of ${safeLine(tool)}`;
    options.push({ optionId: "allow_tool", name, kind: "allow_always" });
  }
  return [...options, { optionId: "deny", name: "Deny", kind: "reject_once" }];
}

function askedCall(question: Question, cwd: string): RequestPermissionRequest["toolCall"] {
  const { args, summary, reason, preview, timeout_ms: timeout } = question;
  const diffs = proposedDiffs(args, cwd);
  // The words of the model are quoted, so that they cannot imitate those of Oxbow.
  const why = [
    reason === undefined ? "" : safeText(reason),
    timeout === undefined ? "" : `Denied automatically after ${humanWait(timeout)}.`,
  ].filter((line) => line !== "");
  const shown = diffs.length > 0 ? diffs : preview === undefined ? [] : [quotedContent(safeText(preview))];
  return {
    ...pendingCall(question),
    content: [quotedContent(safeText(summary)), ...(why.length > 0 ? [textContent(why.join("\n\n"))] : []), ...shown],
  };
}
