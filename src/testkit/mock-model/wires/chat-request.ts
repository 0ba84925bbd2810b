/** Requests in the form OpenAI and Ollama share: messages with a role each, tools as functions. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import { type Ask, asList, asText, estimateTokens, type Incoming, plainText } from "./wire.js";

export function readChat(body: JsonObject, { bodyText }: Incoming): Ask {
  const messages = asList(body.messages).filter(isJsonObject);
  const spoke = messages.findLastIndex((message) => message.role === "assistant");
  const texts = (from: number, ...roles: readonly string[]) => {
    const chosen = messages.slice(from).filter((message) => roles.includes(asText(message.role)));
    return chosen.map((message) => plainText(message.content));
  };
  return {
    model: asText(body.model),
    stream: body.stream === true,
    system: texts(0, "system", "developer").join("\n"),
    messages: messages.length,
    lastUser: texts(0, "user").findLast((text) => text !== "") ?? "",
    lastToolResult: texts(0, "tool").at(-1),
    toolResults: texts(spoke + 1, "tool"),
    tools: asList(body.tools).map(toolName),
    inputTokens: estimateTokens(bodyText),
    body,
  };
}

function toolName(tool: JsonValue): string {
  return isJsonObject(tool) && isJsonObject(tool.function) ? asText(tool.function.name) : "";
}
