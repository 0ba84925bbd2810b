/** Ollama's native API: its paths, checks and request format. */
import { isJsonObject, type JsonObject } from "../../../protocol/json.js";
import type { ModelSpec } from "../script/script.js";
import { readChat } from "./chat-request.js";
import { retryHeaders } from "./error-kinds.js";
import { withTag } from "./model-list.js";
import { ChatEncoder } from "./ollama-encoder.js";
import { messageOf, noModel, statusOf } from "./ollama-errors.js";
import { digestOf, type LoadedModel } from "./ollama-models.js";
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

export const ollama: Wire = {
  name: "ollama",
  respond: settle,
  read,
  warmUp: (ask, { installed }) => installed.load(ask.model, contextOf(ask.body)),
  headers: () => ({}),
  error: (error, { ask }) => answer(statusOf(error), { error: messageOf(error, ask) }, retryHeaders(error)),
  encoder: (ask, { service }) => new ChatEncoder(ask, service),
};

const VERSION = "0.12.6";

/** The context of a model if the request sets none. */
const DEFAULT_CONTEXT = 4096;

function settle(request: Incoming, service: Service): HttpAnswer | undefined {
  const path = request.path.split("?")[0] as string;
  if (path === "/") return answer(200, "Ollama is running", { "content-type": "text/plain; charset=utf-8" });
  if (path === "/api/version") return answer(200, { version: VERSION });
  if (path === "/api/tags") return answer(200, { models: service.installed.installed.map(listed) });
  if (path === "/api/ps")
    return answer(200, { models: service.installed.running.map((model) => running(model, service)) });
  if (request.bodyText === "") return answer(400, { error: "missing request body" });
  const body = parseBody(request.bodyText);
  if (!isJsonObject(body)) return answer(400, { error: "invalid character in request body: it is not a JSON object" });
  const name = asText(body.model ?? body.name);
  if (name === "") return answer(400, { error: "model is required" });
  if (path === "/api/pull") return pull(name, service);
  const model = service.installed.find(name);
  if (model === undefined) return answer(404, { error: noModel(name) });
  if (path === "/api/show") return answer(200, shown(model));
  return checkChat(body, model) ?? loadOnly(body, service) ?? checkLength(request, { body, model });
}

/** Only a client that asks for it gets an error for a prompt that does not fit. */
function checkLength(
  { bodyText }: Incoming,
  { body, model }: { readonly body: JsonObject; readonly model: Required<ModelSpec> },
): HttpAnswer | undefined {
  if (body.truncate !== false || model.cut === "silent") return undefined;
  if (estimateTokens(bodyText) <= contextOf(body)) return undefined;
  return answer(400, { error: "the input length exceeds the context length" });
}

function pull(name: string, { installed }: Service): HttpAnswer {
  const pulled = installed.pull(name);
  const headers = { "content-type": "application/x-ndjson" };
  if (pulled === undefined) {
    // As the real server: status 200, and the error as a line of the stream.
    const error = { error: "pull model manifest: file does not exist" };
    return answer(200, `${JSON.stringify({ status: "pulling manifest" })}\n${JSON.stringify(error)}\n`, headers);
  }
  return { status: 200, headers, body: "", pieces: pulled };
}

function contextOf(body: JsonObject): number {
  const context = isJsonObject(body.options) ? body.options.num_ctx : undefined;
  return typeof context === "number" ? context : DEFAULT_CONTEXT;
}

function checkChat(body: JsonObject, model: Required<ModelSpec>): HttpAnswer | undefined {
  for (const message of asList(body.messages)) {
    for (const call of isJsonObject(message) ? asList(message.tool_calls) : []) {
      const args = isJsonObject(call) && isJsonObject(call.function) ? call.function.arguments : undefined;
      if (args === undefined || isJsonObject(args)) continue;
      return answer(400, {
        error: `json: cannot unmarshal ${typeof args} into Go struct field ChatRequest.messages.tool_calls.function.arguments of type map[string]interface {}`,
      });
    }
  }
  if (asList(body.tools).length > 0 && !model.capabilities.includes("tools")) {
    return answer(400, { error: `registry.ollama.ai/library/${withTag(model.name)} does not support tools` });
  }
  if (body.think !== undefined && body.think !== false && !model.capabilities.includes("thinking")) {
    return answer(400, { error: `"${asText(body.model)}" does not support thinking` });
  }
  return undefined;
}

/** A request without messages only loads or unloads the model. */
function loadOnly(body: JsonObject, service: Service): HttpAnswer | undefined {
  if (asList(body.messages).length > 0) return undefined;
  return answer(200, {
    model: asText(body.model),
    created_at: new Date(service.wall()).toISOString(),
    message: { role: "assistant", content: "" },
    done: true,
    done_reason: body.keep_alive === 0 ? "unload" : "load",
  });
}

const DETAILS = {
  parent_model: "",
  format: "gguf",
  family: "mock",
  families: ["mock"],
  parameter_size: "8.0B",
  quantization_level: "Q4_K_M",
};

function listed(model: Required<ModelSpec>): JsonObject {
  const name = withTag(model.name);
  return {
    name,
    model: name,
    modified_at: "2026-01-01T00:00:00Z",
    size: model.bytes,
    digest: digestOf(model.name),
    details: DETAILS,
  };
}

function running({ model, contextTokens }: LoadedModel, service: Service): JsonObject {
  const name = withTag(model.name);
  return {
    name,
    model: name,
    size: model.bytes,
    digest: digestOf(model.name),
    details: DETAILS,
    expires_at: new Date(service.wall() + 300_000).toISOString(),
    size_vram: 0,
    context_length: contextTokens,
  };
}

function shown(model: Required<ModelSpec>): JsonObject {
  return {
    modelfile: `FROM ${withTag(model.name)}\n`,
    parameters: "",
    template: "{{ .Prompt }}",
    details: DETAILS,
    model_info: {
      "general.architecture": "mock",
      "general.parameter_count": 8_030_261_248,
      "mock.context_length": model.contextLength,
      "mock.block_count": 32,
      "mock.embedding_length": 4096,
      "mock.attention.head_count": 32,
      "mock.attention.head_count_kv": 8,
    },
    capabilities: model.capabilities,
    modified_at: "2026-01-01T00:00:00Z",
  };
}

function read(body: JsonObject, request: Incoming): Ask {
  const ask = readChat(body, request);
  return {
    ...ask,
    stream: body.stream !== false,
    // The server drops what does not fit and counts only the rest, so that a client can notice.
    inputTokens: Math.min(ask.inputTokens, contextOf(body)),
  };
}

function answer(status: number, body: JsonObject | string, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  return { status, body, headers };
}
