/** Describes what a script adds to a stream of server-sent events besides the answer. */
import type { Noise } from "../script/script.js";

export interface NoiseForm {
  /** The service's own ping; a comment by default. */
  readonly ping?: string;
  /** The event that carries garbage; none by default. */
  readonly event?: string;
}

export function sseNoise(noise: Noise, { ping = ": ping\n\n", event }: NoiseForm = {}): string {
  switch (noise.type) {
    case "ping":
      return ping;
    case "comment":
      return `: ${noise.text}\n\n`;
    case "event":
      return `event: ${noise.name}\ndata: ${noise.data}\n\n`;
    case "garbage":
      return `${event === undefined ? "" : `event: ${event}\n`}data: ${noise.text}\n\n`;
    case "raw":
      return noise.text;
  }
}
