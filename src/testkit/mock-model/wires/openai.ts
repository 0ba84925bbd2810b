/** OpenAI Chat Completions: its paths, checks and request format. */
import { isJsonObject } from "../../../protocol/json.js";
import { readChat } from "./chat-request.js";
import { retryHeaders } from "./error-kinds.js";
import { type Complaint, checkChatRequest } from "./openai-check.js";
import { ChatEncoder } from "./openai-encoder.js";
import { errorAnswer, headers, noModel, refuse, shapeOf } from "./openai-errors.js";
import { asText, type HttpAnswer, type Incoming, parseBody, type Service, type Wire } from "./wire.js";

export const openai: Wire = {
  name: "openai",
  respond: settle,
  read: readChat,
  headers,
  error: (error, { service, ask }) => errorAnswer(shapeOf(error, ask), service, retryHeaders(error)),
  encoder: (ask, { service }) => new ChatEncoder(ask, service),
};

function settle(request: Incoming, service: Service): HttpAnswer | undefined {
  const unknown = checkKey(request, service);
  if (unknown !== undefined) return refuse("auth", unknown, service);
  const path = request.path.split("?")[0] as string;
  if (request.method === "GET") return listModels(path, service);
  const body = parseBody(request.bodyText);
  if (!isJsonObject(body)) {
    const message =
      "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)";
    return refuse("bad-request", { message }, service);
  }
  const complaint = checkChatRequest(body);
  if (complaint !== undefined) return refuse("bad-request", complaint, service);
  const model = asText(body.model);
  if (service.models.open || service.models.find(model) !== undefined) return undefined;
  return refuse("not-found", { message: noModel(model) }, service);
}

/** If the server has no key, it requires none, like most compatible servers. */
export function checkKey({ headers }: Incoming, { key }: Service): Partial<Complaint> | undefined {
  if (key === undefined) return undefined;
  const given = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1] ?? headers["api-key"];
  if (given === key) return undefined;
  if (given !== undefined) return {};
  const message =
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).";
  return { message, code: null };
}

function listModels(path: string, service: Service): HttpAnswer {
  const data = service.models.all.map((model) => ({
    id: model.name,
    object: "model",
    created: 1_767_225_600,
    owned_by: "oxbow",
  }));
  const name = /\/models\/(.+)$/.exec(path)?.[1];
  if (name === undefined) return { status: 200, headers: headers(service), body: { object: "list", data } };
  const wanted = decodeURIComponent(name);
  const one = data.find((model) => model.id === wanted);
  if (one === undefined) return refuse("not-found", { message: noModel(wanted) }, service);
  return { status: 200, headers: headers(service), body: one };
}
