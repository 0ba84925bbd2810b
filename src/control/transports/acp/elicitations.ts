/** Forms of a session as elicitations of the editor, if it can show them. */
import type { CreateElicitationRequest, CreateElicitationResponse } from "@agentclientprotocol/sdk";
import { safeText } from "../../../base/terminal-text.js";
import type { CommandPayloads } from "../../../protocol/commands.js";
import type { EventPayloads } from "../../../protocol/events.js";
import { DISMISSED, type FormField } from "../../../protocol/form.js";
import type { SessionId } from "../../../protocol/ids.js";

type Question = EventPayloads["PermissionRequested"];

export type ElicitInEditor = (
  request: CreateElicitationRequest,
  options: { readonly signal: AbortSignal },
) => Promise<CreateElicitationResponse>;

export function elicitationOf(
  { summary, reason = "", form = [] }: Question,
  session: SessionId,
): CreateElicitationRequest {
  return {
    sessionId: session,
    mode: "form",
    message: [summary, reason]
      .filter((line) => line !== "")
      .map(safeText)
      .join("\n\n"),
    requestedSchema: {
      type: "object",
      properties: Object.fromEntries(form.map((field) => [field.name, propertyOf(field)])),
      required: form.filter(({ required }) => required).map(({ name }) => name),
    },
  } as CreateElicitationRequest;
}

function propertyOf({ kind, title, description, hint, choices = [], default: usual }: FormField): object {
  const about = [description, hint].filter((part) => part !== undefined).join("; ");
  const options = choices.map(({ value, title: name }) => ({ const: value, title: name }));
  return {
    ...typeOf(kind, options),
    ...(title !== undefined && { title }),
    ...(about !== "" && { description: about }),
    ...(usual !== undefined && { default: usual }),
  };
}

function typeOf(kind: FormField["kind"], options: readonly object[]): object {
  if (kind === "one") return { type: "string", oneOf: options };
  if (kind === "some") return { type: "array", items: { anyOf: options } };
  if (kind === "yes_no") return { type: "boolean" };
  return { type: kind === "text" ? "string" : kind };
}

/** Only an acceptance accepts. */
export function answerOf({
  action,
  content,
}: {
  readonly action: string;
  readonly content?: unknown;
}): Pick<CommandPayloads["AnswerPermission"], "decision" | "message"> {
  if (action === "accept") return { decision: "allow_once", message: JSON.stringify(content ?? {}) };
  return action === "decline" ? { decision: "deny" } : { decision: "deny", message: DISMISSED };
}
