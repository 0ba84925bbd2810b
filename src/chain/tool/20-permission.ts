import type { ToolOutcome } from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import { summarize } from "../../security/permissions/gate.js";
import type { CreateToolLink } from "../services.js";

/** Allow, ask or deny. With nobody to ask, asking is denying, at once. */
export const create: CreateToolLink = (services) => async (call, context, next) => {
  const { gate, person } = services;
  const verdict = gate.judge(call, context.definition);
  if (verdict.decision === "allow") return next(call);
  if (verdict.decision === "deny") {
    person.note(call.call, call.tool, { decision: "deny", decidedBy: verdict.decidedBy });
    return denied(`Denied: tools are switched off (${verdict.decidedBy}).`);
  }
  if (!person.present()) {
    services.permissionState.missing ??= call.tool;
    person.note(call.call, call.tool, { decision: "deny", decidedBy: "nobody to ask" });
    return denied(
      `Denied: ${call.tool} needs a person's permission and nobody is there to give it. Go on without it, or say what you would have done.`,
    );
  }
  const question = { call: call.call, tool: call.tool, args: call.args, summary: summarize(call) };
  const answer = await person.ask(question, context.signal);
  if (context.signal.aborted) return { status: "cancelled", content: [text("Cancelled before it was allowed.")] };
  if (answer.decision === "deny")
    return denied(`Denied: the user said no.${answer.message ? ` ${answer.message}` : ""}`);
  gate.remember(call, answer.decision);
  return next(call);
};

function denied(message: string): ToolOutcome {
  return { status: "denied", content: [text(message)] };
}
