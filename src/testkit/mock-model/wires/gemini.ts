/** Gemini: its paths, checks and request format. The path has the model and the kind of answer. */
import { isJsonObject, type JsonObject } from "../../../protocol/json.js";
import type { ModelSpec } from "../script/script.js";
import { retryHeaders } from "./error-kinds.js";
import { checkGenerateRequest } from "./gemini-check.js";
import { GenerateEncoder } from "./gemini-encoder.js";
import { errorAnswer, noModel, refuse, shapeOf } from "./gemini-errors.js";
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

export const gemini: Wire = {
  name: "gemini",
  respond: settle,
  read,
  headers: () => ({ server: "scaffolding on HTTPServer2" }),
  error: (error, { ask }) => errorAnswer(shapeOf(error, ask), retryHeaders(error)),
  encoder: (ask, { service }) => new GenerateEncoder(ask, service),
};

function settle(request: Incoming, service: Service): HttpAnswer | undefined {
  const refused = checkKey(request, service);
  if (refused !== undefined) return refused;
  const { model, method } = targetOf(request.path);
  if (request.method === "GET") return listModels(model, service);
  const body = parseBody(request.bodyText);
  if (!isJsonObject(body)) {
    return refuse("bad-request", { message: "Invalid JSON payload received. Unexpected end of string.\n\n^" });
  }
  if (!service.models.open && service.models.find(model) === undefined) {
    return refuse("not-found", { message: noModel(model) });
  }
  if (method === "countTokens") {
    const totalTokens = estimateTokens(request.bodyText);
    return { status: 200, headers: {}, body: { totalTokens } };
  }
  const problem = checkGenerateRequest(body, model);
  return problem === undefined ? undefined : refuse("bad-request", { message: problem });
}

/** `/v1beta/models/NAME:method`. */
function targetOf(path: string): { readonly model: string; readonly method: string } {
  const [, name = "", method = ""] = /\/models\/?([^:?]*):?([^?]*)/.exec(path) ?? [];
  return { model: decodeURIComponent(name), method };
}

function checkKey({ headers, path }: Incoming, { key }: Service): HttpAnswer | undefined {
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
  const given = headers["x-goog-api-key"] ?? /[?&]key=([^&]*)/.exec(path)?.[1] ?? bearer ?? "";
  if (given === "") return refuse("permission", {});
  return key === undefined || given === key ? undefined : refuse("auth", {});
}

function listModels(name: string, service: Service): HttpAnswer {
  if (name === "") return { status: 200, headers: {}, body: { models: service.models.all.map(described) } };
  const one = service.models.find(name);
  if (one === undefined) return refuse("not-found", { message: noModel(name) });
  return { status: 200, headers: {}, body: described(one) };
}

function described(model: Required<ModelSpec>): JsonObject {
  return {
    name: `models/${model.name}`,
    version: "001",
    displayName: model.name,
    inputTokenLimit: model.contextLength,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: ["generateContent", "countTokens"],
  };
}

function read(body: JsonObject, { bodyText, path }: Incoming): Ask {
  const contents = asList(body.contents).filter(isJsonObject);
  const spoke = contents.findLastIndex((content) => content.role === "model");
  const results = (from: number) => contents.slice(from).flatMap(responsesIn);
  const users = contents.filter((content) => content.role !== "model").map(textOf);
  const instruction = body.systemInstruction ?? body.system_instruction;
  return {
    model: targetOf(path).model,
    stream: targetOf(path).method === "streamGenerateContent",
    system: isJsonObject(instruction) ? textOf(instruction) : asText(instruction),
    messages: contents.length,
    lastUser: users.findLast((text) => text !== "") ?? "",
    lastToolResult: results(0).at(-1),
    toolResults: results(spoke + 1),
    tools: declarations(body).map((tool) => asText(tool.name)),
    inputTokens: estimateTokens(bodyText),
    body,
    ...(!/[?&]alt=sse\b/.test(path) && { framing: "list" as const }),
  };
}

function textOf(content: JsonObject): string {
  const parts = asList(content.parts).filter(isJsonObject);
  return parts.flatMap((part) => (typeof part.text === "string" && part.text !== "" ? [part.text] : [])).join("\n");
}

function responsesIn(content: JsonObject): readonly string[] {
  return asList(content.parts)
    .filter(isJsonObject)
    .flatMap(({ functionResponse }) =>
      isJsonObject(functionResponse) ? [responseText(functionResponse.response)] : [],
    );
}

/** Clients may choose any field name; the usual ones are read as text. */
function responseText(response: JsonObject[string]): string {
  if (!isJsonObject(response)) return "";
  const result = response.output ?? response.error ?? response.result;
  return typeof result === "string" ? result : JSON.stringify(response);
}

function declarations(body: JsonObject): readonly JsonObject[] {
  return asList(body.tools)
    .filter(isJsonObject)
    .flatMap((tool) => asList(tool.functionDeclarations ?? tool.function_declarations).filter(isJsonObject));
}
