/** Describes how much text a request holds, for people to read: `12 KB`. `tokens/estimate-request.ts` counts tokens. */
import type { ModelRequest } from "../engine/ports.js";
import type { Message } from "../protocol/content.js";

export function requestBytes({ system, tools, messages }: ModelRequest): number {
  let bytes = Buffer.byteLength(system);
  if (tools.length > 0) bytes += Buffer.byteLength(JSON.stringify(tools));
  for (const message of messages) bytes += messageBytes(message);
  return bytes;
}

/** Ignores thinking: requests do not contain the thinking of earlier turns. */
function messageBytes({ content }: Message): number {
  let bytes = 0;
  for (const block of content) {
    if (block.type === "text") bytes += Buffer.byteLength(block.text);
    else if (block.type === "tool_use") bytes += block.tool.length + Buffer.byteLength(JSON.stringify(block.args));
    else if (block.type === "tool_result") {
      for (const part of block.content) if (part.type === "text") bytes += Buffer.byteLength(part.text);
    }
  }
  return bytes;
}
