/** `stream`: one model call over HTTP, told as what the model said. */
import type { ModelToolCall } from "../../engine/ports.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { NO_USAGE } from "../../protocol/usage.js";
import { createHttpModel } from "../../providers/http-model.js";
import { loadWire, type WireName } from "../../providers/named.js";
import { argumentsAsWritten } from "../../providers/wire/tool-arguments.js";
import { createHttpClient } from "../../system/http-client.js";
import { readableJson } from "./readable-json.js";
import type { Operation } from "./serve.js";

const WIRES: Readonly<Record<string, WireName>> = {
  "anthropic-messages": "anthropic",
  "openai-chat": "openai-chat",
  "ollama-chat": "ollama",
};

const http = createHttpClient();

export const stream: Operation = async ({ protocol, base_url: baseUrl, model: name }) => {
  const wire = WIRES[String(protocol)];
  if (wire === undefined) return { unsupported: true };
  const endpoint = { provider: wire, family: wire, baseUrl: String(baseUrl), key: "none", local: true };
  const model = createHttpModel({ wire: await loadWire(wire), endpoint, model: String(name), http });
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
      else if (event.block.type === "tool_call") calls.push(event.block);
    }
  }
  return {
    text,
    thinking,
    tool_calls: calls.map((call) => ({ name: call.tool, arguments: argumentsOf(call, wire) })),
    stop_reason: stopReason,
    usage: { ...usage },
    ...(error !== undefined && { error }),
  };
};

/** As the protocol itself has them: text in Chat Completions, an object elsewhere, of which the readable part if it was cut off. */
function argumentsOf(call: ModelToolCall, wire: WireName): JsonValue {
  if (wire === "openai-chat") return argumentsAsWritten(call);
  return call.malformed === undefined ? call.args : (readableJson(call.malformed) ?? call.malformed);
}
