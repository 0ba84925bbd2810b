/** How large a request is before anybody has counted its tokens. */
import type { ModelRequest } from "../engine/ports.js";
import type { Message } from "../protocol/content.js";

/** Below what any common tokenizer reaches on prose, code or JSON, so that the estimate errs on the safe side. */
const BYTES_PER_TOKEN = 3;
const TOKENS_PER_IMAGE = 1500;

export interface RequestSize {
  /** Of everything that is text. */
  readonly bytes: number;
  readonly images: number;
}

export function requestSize({ system, tools, messages }: ModelRequest): RequestSize {
  let bytes = Buffer.byteLength(system);
  if (tools.length > 0) bytes += Buffer.byteLength(JSON.stringify(tools));
  let images = 0;
  for (const message of messages) {
    const size = messageSize(message);
    bytes += size.bytes;
    images += size.images;
  }
  return { bytes, images };
}

/** With a ratio that was measured with this model, where there is one. */
export function estimateTokens({ bytes, images }: RequestSize, tokensPerByte = 1 / BYTES_PER_TOKEN): number {
  return Math.ceil(bytes * tokensPerByte) + images * TOKENS_PER_IMAGE;
}

/** Around every message its role and marks. */
const MESSAGE_BYTES = 16;

/** Thinking is left out: of earlier turns it is not sent. */
function messageSize({ content }: Message): RequestSize {
  let bytes = MESSAGE_BYTES;
  let images = 0;
  for (const block of content) {
    if (block.type === "text") bytes += Buffer.byteLength(block.text);
    else if (block.type === "image") images++;
    else if (block.type === "tool_use") bytes += block.tool.length + Buffer.byteLength(JSON.stringify(block.args));
    else if (block.type === "tool_result") {
      for (const part of block.content) {
        if (part.type === "text") bytes += Buffer.byteLength(part.text);
        else images++;
      }
    }
  }
  return { bytes, images };
}
