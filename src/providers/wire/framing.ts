/** Splits bytes into frames, for every framing that wires use. */

import { SseDecoder } from "../../base/sse.js";
import type { ModelEvent } from "../../engine/ports.js";
import { NdjsonDecoder } from "../../system/ndjson.js";
import type { Frame, Wire, WireContext } from "./wire.js";

/** The most bytes of one answer. Each token has about a hundred bytes around it, so this is far above any real answer. */
export const MOST_BODY_BYTES = 256 * 1024 * 1024;

export interface FrameDecoder {
  push(bytes: Uint8Array): readonly Frame[];
  end(): readonly Frame[];
}

export function createFrameDecoder(framing: Wire<unknown>["framing"]): FrameDecoder {
  if (framing === "sse") {
    const decoder = new SseDecoder();
    // Some gateways keep a connection alive with empty events.
    return { push: (bytes) => decoder.push(bytes).filter(({ data }) => data.trim() !== ""), end: () => [] };
  }
  const decoder = new NdjsonDecoder();
  const frames = (lines: readonly string[]) => lines.map((data) => ({ event: "", data }));
  return { push: (bytes) => frames(decoder.push(bytes)), end: () => frames(decoder.end()) };
}

/** The events of a recorded answer: the same as live, without a network. */
export function replay<State>(
  wire: Wire<State>,
  context: WireContext,
  pieces: Iterable<Uint8Array>,
): readonly ModelEvent[] {
  const decoder = createFrameDecoder(wire.framing);
  const events: ModelEvent[] = [];
  let state = wire.initial(context);
  const take = (frames: readonly Frame[]): boolean => {
    for (const frame of frames) {
      const step = wire.step(state, frame);
      state = step.state;
      events.push(...step.events);
      if (step.done) return true;
    }
    return false;
  };
  for (const piece of pieces) if (take(decoder.push(piece))) return events;
  if (!take(decoder.end())) events.push(...wire.end(state));
  return events;
}
