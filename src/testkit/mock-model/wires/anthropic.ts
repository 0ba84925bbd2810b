/** Anthropic Messages: its paths, checks and request format. */
import { isJsonObject, type JsonObject } from "../../../protocol/json.js";
import { checkMessagesRequest } from "./anthropic-check.js";
import { MessagesEncoder } from "./anthropic-encoder.js";
import { errorAnswer, headers, refuse, shapeOf } from "./anthropic-errors.js";
import { retryHeaders } from "./error-kinds.js";
import {
  type Ask,
  asList,
  asText,
  estimateTokens,
  type HttpAnswer,
  type Incoming,
  parseBody,
  plainText,
  type Service,
  type Wire,
} from "./wire.js";

export const anthropic: Wire = {
  name: "anthropic",
  respond: settle,
  read,
  headers,
  error: (error, { service, ask }) => errorAnswer(shapeOf(error, ask), service, retryHeaders(error)),
  encoder: (ask, context) => new MessagesEncoder(ask, context),
};

function settle(request: Incoming, service: Service): HttpAnswer | undefined {
  const unknown = checkKey(request, service);
  if (unknown !== undefined) return refuse("auth", unknown, service);
  if (request.headers["anthropic-version"] === undefined) {
    return refuse("bad-request", "anthropic-version: header is required", service);
  }
  const path = request.path.split("?")[0] as string;
  if (request.method === "GET") return listModels(path, service);
  const body = parseBody(request.bodyText);
  if (!isJsonObject(body)) return refuse("bad-request", "The request body is not valid JSON", service);
  const counting = path.endsWith("/count_tokens");
  const problem = checkMessagesRequest(counting ? { max_tokens: 1, ...body } : body);
  if (problem !== undefined) return refuse("bad-request", problem, service);
  const model = asText(body.model);
  if (!service.models.open && service.models.find(model) === undefined) {
    return refuse("not-found", `model: ${model}`, service);
  }
  if (!counting) return undefined;
  return { status: 200, headers: headers(service), body: { input_tokens: estimateTokens(request.bodyText) } };
}

function checkKey({ headers }: Incoming, { key }: Service): string | undefined {
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
  const given = headers["x-api-key"] ?? bearer;
  if (given === undefined || given === "") return "x-api-key header is required";
  if (key === undefined || given === key) return undefined;
  return headers["x-api-key"] === undefined ? "Invalid bearer token" : "invalid x-api-key";
}

function listModels(path: string, service: Service): HttpAnswer {
  const data = service.models.all.map((model) => ({
    type: "model",
    id: model.name,
    display_name: model.name,
    created_at: "2026-01-01T00:00:00Z",
  }));
  const name = /^\/v1\/models\/(.+)$/.exec(path)?.[1];
  if (name !== undefined) {
    const one = data.find((model) => model.id === decodeURIComponent(name));
    if (one === undefined) return refuse("not-found", `model: ${decodeURIComponent(name)}`, service);
    return { status: 200, headers: headers(service), body: one };
  }
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return { status: 200, headers: headers(service), body: { data, has_more: false, ...ends } };
}

function read(body: JsonObject, { bodyText }: Incoming): Ask {
  const messages = asList(body.messages).filter(isJsonObject);
  const spoke = messages.findLastIndex((message) => message.role === "assistant");
  const results = (from: number) =>
    messages.slice(from).flatMap((message) => blocks(message, "tool_result").map((block) => plainText(block.content)));
  const inside = messages.filter((message) => message.role === "system");
  const users = messages.filter((message) => message.role === "user").map((message) => plainText(message.content));
  return {
    model: asText(body.model),
    stream: body.stream === true,
    system: [body.system, ...inside.map(({ content }) => content)].map(plainText).filter(Boolean).join("\n"),
    messages: messages.length,
    lastUser: users.findLast((text) => text !== "") ?? "",
    lastToolResult: results(0).at(-1),
    toolResults: results(spoke + 1),
    tools: asList(body.tools).map((tool) => (isJsonObject(tool) ? asText(tool.name) : "")),
    inputTokens: estimateTokens(bodyText),
    body,
  };
}

function blocks(message: JsonObject, type: string): readonly JsonObject[] {
  return asList(message.content)
    .filter(isJsonObject)
    .filter((block) => block.type === type);
}
