/** OpenAI Responses: its paths, checks and request format. Keys and lists of models are those of Chat Completions. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import { retryHeaders } from "./error-kinds.js";
import { checkKey, openai } from "./openai.js";
import { errorAnswer, headers, noModel, refuse, shapeOf } from "./openai-errors.js";
import { checkResponsesRequest } from "./responses-check.js";
import { ResponsesEncoder } from "./responses-encoder.js";
import {
  type Ask,
  asList,
  asText,
  estimateTokens,
  type HttpAnswer,
  type Incoming,
  parseBody,
  type Service,
  type Wire,
} from "./wire.js";

export const responses: Wire = {
  name: "openai-responses",
  respond: settle,
  read,
  headers,
  error: (error, { service, ask }) => errorAnswer(shapeOf(error, ask), service, retryHeaders(error)),
  encoder: (ask, { service }) => new ResponsesEncoder(ask, service),
};

function settle(request: Incoming, service: Service): HttpAnswer | undefined {
  const body = parseBody(request.bodyText);
  const isRefused = checkKey(request, service) !== undefined || !isJsonObject(body);
  if (isRefused) return openai.respond(request, service);
  const complaint = checkResponsesRequest(body);
  if (complaint !== undefined) {
    const { kind = "bad-request", ...fields } = complaint;
    return refuse(kind, { code: null, ...fields }, service);
  }
  const model = asText(body.model);
  if (service.models.open || service.models.find(model) !== undefined) return undefined;
  return refuse("bad-request", { message: noModel(model), param: "model", code: "model_not_found" }, service);
}

function read(body: JsonObject, { bodyText }: Incoming): Ask {
  const question: JsonValue = { role: "user", content: body.input };
  const input = (typeof body.input === "string" ? [question] : asList(body.input)).filter(isJsonObject);
  const spoke = input.findLastIndex((item) => item.role === "assistant" || item.type === "function_call");
  const textsOf = (...roles: readonly string[]) =>
    input.filter((item) => roles.includes(asText(item.role))).map((item) => contentText(item.content));
  const results = (from: number) =>
    input.slice(from).flatMap((item) => (item.type === "function_call_output" ? [contentText(item.output)] : []));
  return {
    model: asText(body.model),
    stream: body.stream === true,
    system: [asText(body.instructions), ...textsOf("system", "developer")].filter(Boolean).join("\n"),
    messages: input.length,
    lastUser: textsOf("user").findLast((text) => text !== "") ?? "",
    lastToolResult: results(0).at(-1),
    toolResults: results(spoke + 1),
    tools: asList(body.tools).map((tool) => (isJsonObject(tool) ? asText(tool.name) : "")),
    inputTokens: estimateTokens(bodyText),
    body,
  };
}

function contentText(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  const parts = asList(content).filter(isJsonObject);
  return parts.flatMap((part) => (typeof part.text === "string" ? [part.text] : [])).join("\n");
}
