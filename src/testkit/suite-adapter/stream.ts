/** `stream`: one model call over HTTP, as the content that the model produced. */
import type { ModelToolCall } from "../../engine/ports.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { NO_USAGE } from "../../protocol/usage.js";
import { createHttpModel } from "../../providers/http-model.js";
import { argumentsAsWritten } from "../../providers/wire/tool-arguments.js";
import type { Wire } from "../../providers/wire/wire.js";
import { createHttpClient } from "../../system/http-client.js";
import { readableJson } from "./readable-json.js";
import type { Operation } from "./serve.js";

const WIRES: Readonly<Record<string, () => Promise<Wire<unknown>>>> = {
  "anthropic-messages": async () => (await import("../../providers/wire/anthropic.js")).anthropic,
  "openai-chat": async () => (await import("../../providers/wire/openai-chat.js")).openaiChat,
  "openai-responses": async () => (await import("../../providers/wire/openai-responses.js")).openaiResponses,
  gemini: async () => (await import("../../providers/wire/gemini.js")).gemini,
  "ollama-chat": async () => (await import("../../providers/wire/ollama.js")).ollama,
};

const http = createHttpClient();

export const stream: Operation = async ({ protocol, base_url: baseUrl, model: name }) => {
  const load = WIRES[String(protocol)];
  if (load === undefined) return { unsupported: true };
  const wire = await load();
  const endpoint = { provider: wire.name, family: wire.name, baseUrl: String(baseUrl), key: "none", local: true };
  const model = createHttpModel({ wire, endpoint, model: String(name), http });
  const request = {
    model: model.model,
    system: "",
    messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "Hello" }] }],
    tools: [],
  };
  let text = "";
  let thinking = "";
  let usage = NO_USAGE;
  let stopReason: JsonValue = null;
  let error: JsonObject | undefined;
  const calls: ModelToolCall[] = [];
  for await (const batch of model.stream(request, { model, signal: new AbortController().signal })) {
    for (const event of batch) {
      if (event.type === "text") text += event.text;
      else if (event.type === "thinking") thinking += event.text;
      else if (event.type === "usage") usage = event.usage;
      else if (event.type === "stop") stopReason = event.reason;
      else if (event.type === "failure") error = { ...event.failure };
      else if (event.type === "block" && event.block.type === "tool_call") calls.push(event.block);
    }
  }
  return {
    text,
    thinking,
    tool_calls: calls.map((call) => ({ name: call.tool, arguments: argumentsOf(call, wire.name) })),
    stop_reason: stopReason,
    usage: wire.name === "gemini" ? { ...usage, output: usage.output - usage.reasoning } : { ...usage },
    ...(error !== undefined && { error }),
  };
};

/** In the form of the protocol: text for OpenAI, an object elsewhere; the readable part of it if it was cut off. */
function argumentsOf(call: ModelToolCall, wire: string): JsonValue {
  if (wire.startsWith("openai-")) return argumentsAsWritten(call);
  return call.malformed === undefined ? call.args : (readableJson(call.malformed) ?? call.malformed);
}
