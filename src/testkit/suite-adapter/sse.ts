/** `sse`: bytes in pieces to events. */
import { SseDecoder } from "../../base/sse.js";
import type { Operation } from "./serve.js";

export const sse: Operation = ({ chunks_b64: chunks }) => {
  const decoder = new SseDecoder();
  const pieces = Array.isArray(chunks) ? chunks : [];
  const events = pieces.flatMap((piece) => decoder.push(Buffer.from(String(piece), "base64")));
  return { events: events.map(({ event, data, id }) => ({ event, data, last_event_id: id })) };
};
