/**
 * Hooks around a question of an MCP server.
 *
 * 1. A refusal counts from every hook. Only a hook of the user can answer the question.
 * 2. The values of a hook must fit the form, like those of a person. Otherwise its answer does not count.
 */

import type { HookAnswer } from "../../extensions/hooks/hook-answer.js";
import { formFields, formProblems } from "../../extensions/mcp/form.js";
import type { ElicitParams } from "../../extensions/mcp/server-requests.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import type { SessionEvents } from "../parts/event-hooks.js";
import type { About, ElicitAnswer } from "./elicit.js";

interface Asking {
  readonly events: SessionEvents;
  /** Asks the user. */
  readonly ask: () => Promise<ElicitAnswer>;
  readonly notify: (message: string) => void;
}

export async function hookedElicitation(
  params: ElicitParams,
  { server, signal }: About,
  { events, ask, notify }: Asking,
): Promise<ElicitAnswer> {
  const answerOf = (said: HookAnswer) => readAnswer(said, params, notify);
  const facts = factsOf(params, server);
  const question = { ...facts, message: params.message, ...shapeOf(params) };
  const early = answerOf(await events.fire("Elicitation", { subject: server, input: question, signal }));
  const answer = early ?? (await ask());
  const { action, content } = answer;
  const input = { ...facts, action, ...(content !== undefined && { content: content as JsonObject }) };
  const late = await events.fire("ElicitationResult", { subject: server, input, signal });
  return answerOf(late) ?? answer;
}

function factsOf(params: ElicitParams, server: string): JsonObject {
  const id = params.mode === "url" ? params.elicitationId : undefined;
  return {
    mcp_server_name: server,
    mode: params.mode === "url" ? "url" : "form",
    ...(id !== undefined && { elicitation_id: id }),
  };
}

function shapeOf(params: ElicitParams): JsonObject {
  return params.mode === "url" ? { url: params.url } : { requested_schema: params.requestedSchema as JsonValue };
}

/** Undefined if the hooks say nothing that counts. */
function readAnswer(
  { refuses, elicited }: HookAnswer,
  params: ElicitParams,
  notify: (message: string) => void,
): ElicitAnswer | undefined {
  if (refuses) return { action: "decline" };
  if (elicited === undefined) return undefined;
  const { action, content = {} } = elicited;
  if (action !== "accept" || params.mode === "url") return { action };
  const names = formFields(params.requestedSchema).map(({ name }) => name);
  const values = Object.fromEntries(Object.entries(content).filter(([name]) => names.includes(name)));
  const problems = formProblems(params.requestedSchema, values as Parameters<typeof formProblems>[1]);
  if (problems.length === 0) return { action, content: values as Record<string, string> };
  notify(`Hooks: the answer of a hook to an MCP server does not fit the form: ${problems.join(" ")}`);
  return undefined;
}
