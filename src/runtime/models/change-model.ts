/** Changes the model of a session. Hooks see the change before and after it, and can refuse it. */
import type { PermissionPrompts } from "../../control/permission-prompts.js";
import type { Run } from "../../control/run.js";
import type { Model } from "../../engine/ports.js";
import type { HookAnswer } from "../../extensions/hooks/hook-answer.js";
import { switchInput } from "../../extensions/hooks/hook-events.js";
import type { SessionEvents } from "../../extensions/hooks/part.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { CallId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";

export interface ModelChange {
  readonly model: Model;
  /** As the user named it. */
  readonly requested: string;
  /** `sdk`: a client, by the protocol. */
  readonly source: "command" | "sdk";
}

export interface ModelChangePlace {
  readonly run: Run;
  readonly events: SessionEvents;
  readonly newCall: () => CallId;
  /** Ends the question to the user. */
  readonly signal?: AbortSignal | undefined;
}

/** Tells why the model stays; undefined if it changed. */
export async function changeModel(change: ModelChange, place: ModelChangePlace): Promise<Failure | undefined> {
  const { run, events } = place;
  const { model } = change;
  if (!events.has("PreModelSwitch") && !events.has("PostModelSwitch")) {
    await use(model, run);
    return undefined;
  }
  const stop = place.signal && { signal: place.signal };
  const input = { ...switchInput(run.model, model), requested_model: change.requested, source: change.source };
  const answer = await events.fire("PreModelSwitch", { subject: model.model, input, ...stop });
  const refusal = await refusalOf(answer, input, place);
  if (place.signal?.aborted) return failure("InvalidInput", { detail: "The change of the model was cancelled." });
  if (refusal !== undefined)
    return failure("InvalidInput", { detail: `A hook refused the change of the model: ${refusal}` });
  await use(model, run);
  const { context } = await events.fire("PostModelSwitch", { subject: model.model, input });
  events.keep("PostModelSwitch", context);
  return undefined;
}

/** The session has it also if its engine is killed before the next turn. */
async function use(model: Model, run: Run): Promise<void> {
  run.model = model;
  await run.saved();
}

async function refusalOf(
  { decision, reason = "it gave no reason.", stop }: HookAnswer,
  input: JsonObject,
  { run, newCall, signal = new AbortController().signal }: ModelChangePlace,
): Promise<string | undefined> {
  if (stop !== undefined) return stop;
  if (decision === "deny") return reason;
  if (decision !== "ask") return undefined;
  const prompts: PermissionPrompts = run.permissionPrompts;
  if (!prompts.present()) return reason;
  const question = {
    call: newCall(),
    tool: "model",
    args: input,
    summary: `change the model to ${input.to_model}`,
    reason,
    once_only: true as const,
    contained: true as const,
  };
  const answer = await prompts.ask(question, signal);
  return answer.decision === "deny" ? (answer.message ?? "you refused it.") : undefined;
}
