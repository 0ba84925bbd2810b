/**
 * Describes what a server asks of the user or the model of a session, during a call: to fill in a form, to open an address, to answer a request.
 *
 * 1. Without a person to ask, a form is declined and a request for the model refused, unless a rule allows it.
 * 2. An answer of the model is paid from the session's budgets and shown in its log, like every other call of the model.
 * 3. The question names the server, in words of Oxbow, so that a server cannot pass for Oxbow or for another one.
 * 4. Only web addresses can be opened, and Oxbow opens none itself: the user sees the whole address and its host.
 * 5. Values that do not fit the form are asked for again, not sent. The values of a hook must fit it, too; otherwise its answer does not count.
 * 6. A refusal counts from every hook. Only a hook of the user can answer the question.
 */

import { formFields, formProblems, formText, formValues } from "../../base/form.js";
import { safeLine, safeText } from "../../base/terminal-text.js";
import type { Tool } from "../../engine/ports.js";
import type { Turn } from "../../engine/turn.js";
import type { PersonAnswer } from "../../feature/part.js";
import { type InputContent, type Message, text } from "../../protocol/content.js";
import { DISMISSED, type FormField } from "../../protocol/form.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import type { McpContext, QuestionHookAnswer } from "./context.js";
import type { ElicitParams, SampleParams, ServerUser } from "./server-requests.js";
import { toolName } from "./tool-names.js";
import { imageContent } from "./tool-result.js";

const MOST_SAMPLES = 10;
const MOST_TOKENS = 4096;

/** Answers for one session; `turnNow` is the turn that is under way. */
export function serverUser(context: McpContext, turnNow: () => Turn | undefined): ServerUser {
  const samples = new WeakMap<Turn, number>();
  return {
    elicit: (params, about) => elicit(params, about, context),
    sample: async (params, about) => {
      const turn = turnNow();
      if (turn === undefined) throw new Error("No turn is running.");
      const count = (samples.get(turn) ?? 0) + 1;
      samples.set(turn, count);
      if (count > MOST_SAMPLES) throw new Error(`A turn has at most ${MOST_SAMPLES} such requests.`);
      return sample(params, about, { context, turn });
    },
  };
}

type SampleAnswer = Awaited<ReturnType<ServerUser["sample"]>>;

async function sample(
  params: SampleParams,
  { server, signal }: About,
  { context, turn }: { readonly context: McpContext; readonly turn: Turn },
): Promise<SampleAnswer> {
  await permit(params, { server, signal }, context);
  const system =
    `You answer a request of the MCP server '${server}', which the user allowed. ${shown(params.systemPrompt ?? "")}`.trim();
  const maxOutputTokens = Math.max(1, Math.min(params.maxTokens, MOST_TOKENS));
  const answer = await context.sample(
    { system, messages: params.messages.map(messageOf), maxOutputTokens },
    turn,
    signal,
  );
  if ("cancelled" in answer) throw new Error("Cancelled.");
  if ("failure" in answer) throw new Error(answer.failure.message);
  const { model } = turn.model;
  return { role: "assistant", model, stopReason: "endTurn", content: { type: "text", text: answer.text } };
}

/** By the rules of the session; otherwise a person decides. */
async function permit(params: SampleParams, { server, signal }: About, context: McpContext): Promise<void> {
  const { newCall, person } = context;
  const name = toolName(server, "sampling");
  const call = newCall();
  const tool: Tool = {
    name,
    description: "",
    inputSchema: { type: "object" },
    set: "command",
    concurrencySafe: false,
    mutating: false,
    extension: { path: server, needs: [] },
    run: async () => ({ status: "ok", content: [] }),
  };
  const verdict = await context.judge({ call, tool: name, args: {} }, tool);
  if (verdict.decision === "allow") return;
  if (verdict.decision === "deny" || !person.present())
    throw new Error("The user does not allow requests to the model.");
  const words = params.messages.map((message) => JSON.stringify(message.content)).join("\n");
  const answer = await person.ask(
    {
      call,
      tool: name,
      args: {},
      summary: `let the MCP server '${server}' ask the model`,
      reason: "The server wants an answer of the model. It is paid from the budget of this session.",
      preview: shown(words),
      once_only: true,
    },
    signal,
  );
  if (answer.decision === "deny") throw new Error("The user does not allow this request to the model.");
}

function messageOf({ role, content }: SampleParams["messages"][number]): Message {
  const blocks = (Array.isArray(content) ? content : [content]).map((block): InputContent => {
    if (block.type === "text") return text(block.text);
    const image = block.type === "image" ? imageContent(block.data, block.mimeType) : undefined;
    return image?.type === "image" ? image : text(`(${block.type} is left out)`);
  });
  if (role === "assistant") return { role, content: blocks.flatMap((block) => (block.type === "text" ? [block] : [])) };
  return { role: "user", content: blocks };
}

type ElicitAnswer = Awaited<ReturnType<ServerUser["elicit"]>>;

interface About {
  readonly server: string;
  readonly signal: AbortSignal;
}

const MOST_WORDS = 2000;
const MOST_ROUNDS = 3;

/** Asks the user. Hooks may answer first, and see the answer of the user before the server gets it. */
async function elicit(params: ElicitParams, about: About, context: McpContext): Promise<ElicitAnswer> {
  const hooks = context.hooks();
  if (!hooks.has("Elicitation") && !hooks.has("ElicitationResult")) return askUser(params, about, context);
  const { server, signal } = about;
  const answerOf = (said: QuestionHookAnswer) => readAnswer(said, params, context);
  const facts = factsOf(params, server);
  const question = { ...facts, message: params.message, ...shapeOf(params) };
  const early = answerOf(await hooks.fire("Elicitation", { subject: server, input: question, signal }));
  const answer = early ?? (await askUser(params, about, context));
  const { action, content } = answer;
  const input = { ...facts, action, ...(content !== undefined && { content: content as JsonObject }) };
  return answerOf(await hooks.fire("ElicitationResult", { subject: server, input, signal })) ?? answer;
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
  { refuses, elicited }: QuestionHookAnswer,
  params: ElicitParams,
  context: McpContext,
): ElicitAnswer | undefined {
  if (refuses) return { action: "decline" };
  if (elicited === undefined) return undefined;
  const { action, content = {} } = elicited;
  if (action !== "accept" || params.mode === "url") return { action };
  const names = formFields(params.requestedSchema).map(({ name }) => name);
  const values = Object.fromEntries(Object.entries(content).filter(([name]) => names.includes(name)));
  const problems = formProblems(params.requestedSchema, values as Parameters<typeof formProblems>[1]);
  if (problems.length === 0) return { action, content: values as Record<string, string> };
  context.notify(`Hooks: the answer of a hook to an MCP server does not fit the form: ${problems.join(" ")}`);
  return undefined;
}

async function askUser(params: ElicitParams, about: About, context: McpContext): Promise<ElicitAnswer> {
  if (!context.person.present()) return { action: "decline" };
  return params.mode === "url" ? openAddress(params, about, context) : fillIn(params, about, context);
}

async function openAddress(
  { url: written, message }: { readonly url: string; readonly message: string },
  { server, signal }: About,
  { person, newCall, notify }: McpContext,
): Promise<ElicitAnswer> {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  const isWeb = url !== undefined && (url.protocol === "https:" || url.protocol === "http:");
  if (!isWeb || url.username !== "" || url.password !== "") {
    notify(
      `The MCP server '${safeLine(server)}' asks for an address that is not one of the web: ${shown(String(written))}`,
    );
    return { action: "decline" };
  }
  const answer = await person.ask(
    {
      call: newCall(),
      tool: `mcp ${server}`,
      args: { url: url.href },
      summary: `tell the MCP server '${server}' that you open ${url.host} in a browser`,
      reason: `It asks: ${shown(message)}`,
      preview: `${shown(url.href)}\n\nOpen the address yourself if you trust ${url.host}.${url.protocol === "http:" ? " It is not encrypted." : ""}`,
      once_only: true,
    },
    signal,
  );
  return answered(answer, signal) ?? { action: "accept" };
}

/** Undefined if the user agrees. */
function answered({ unanswered, decision, message }: PersonAnswer, signal: AbortSignal): ElicitAnswer | undefined {
  if (unanswered !== undefined || signal.aborted) return { action: "cancel" };
  if (decision !== "deny") return undefined;
  return { action: message === DISMISSED ? "cancel" : "decline" };
}

async function fillIn(
  { requestedSchema, message }: { readonly requestedSchema?: unknown; readonly message: string },
  { server, signal }: About,
  { person, newCall, notify }: McpContext,
): Promise<ElicitAnswer> {
  const fields = formFields(requestedSchema);
  let problems: readonly string[] = [];
  let form = fields;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const answer = await person.ask(
      {
        call: newCall(),
        tool: `mcp ${server}`,
        args: {},
        summary: `answer the MCP server '${server}'`,
        reason: [...problems, `It asks: ${shown(message)}`, ...warningFor(fields)].join(" "),
        ...(fields.length > 0 && { form, preview: shown(formText(form)) }),
        once_only: true,
      },
      signal,
    );
    const end = answered(answer, signal);
    if (end !== undefined) return end;
    const values = formValues(form, answer.message);
    problems = formProblems(requestedSchema, values);
    if (problems.length === 0) return { action: "accept", content: values as Record<string, string> };
    // What was filled in stays.
    form = fields.map((field) => {
      const value = values[field.name];
      return value === undefined ? field : { ...field, default: value };
    });
  }
  notify(`The form of the MCP server '${safeLine(server)}' was not sent: ${problems.join(" ")}`);
  return { action: "cancel" };
}

const SECRET = /pass(?:word|phrase|code)|secret|token|api.?key|credential|\bpin\b|card number|\bcvv\b/i;

/** The specification forbids servers to ask for secrets in forms. */
function warningFor(fields: readonly FormField[]): readonly string[] {
  const asksForSecret = fields.some(({ name, title = "", description = "" }) =>
    SECRET.test(`${name} ${title} ${description}`),
  );
  return asksForSecret ? ["Do not enter secrets: servers must not ask for them in a form."] : [];
}

function shown(text: string): string {
  const safe = safeText(text);
  return safe.length > MOST_WORDS ? `${safe.slice(0, MOST_WORDS)}…` : safe;
}
