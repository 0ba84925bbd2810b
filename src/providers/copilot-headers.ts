/** Headers that Copilot expects: whether the user began the request (only such requests are counted), and whether it holds images. */
import type { ModelRequest } from "../engine/ports.js";

export function copilotHeaders({ messages }: ModelRequest): Readonly<Record<string, string>> {
  const last = messages.at(-1);
  // Results of tools are not a new request of the user.
  const goesOn = last?.role !== "user" || last.content.some((block) => block.type === "tool_result");
  return { "x-initiator": goesOn ? "agent" : "user", ...(hasImages(messages) && { "copilot-vision-request": "true" }) };
}

function hasImages(messages: ModelRequest["messages"]): boolean {
  return messages.some(
    (message) =>
      message.role === "user" &&
      message.content.some(
        (block) =>
          block.type === "image" ||
          (block.type === "tool_result" && block.content.some((inner) => inner.type === "image")),
      ),
  );
}
