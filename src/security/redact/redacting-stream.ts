/**
 * `redact` for text that comes in pieces.
 *
 * 1. However a text is split, the joined output equals `redact` of the whole.
 * 2. A word is held back until it ends, a line from the first word that hints at a secret on, a private key until its end:
 *    never more than one segment.
 */
import { redact } from "./redact.js";
import { segmentEnd } from "./segments.js";
import { findHint } from "./triggers.js";

export class RedactingStream {
  /** The unfinished segment, from its beginning. */
  #segment = "";
  /** How much of it was given out already, unchanged. */
  #given = 0;
  #hinted = false;

  push(chunk: string): string {
    this.#segment += chunk;
    return this.#finished() + this.#harmless();
  }

  end(): string {
    return this.#take(this.#segment.length);
  }

  #finished(): string {
    const text = this.#segment;
    let end = 0;
    for (let next = segmentEnd(text, 0); next !== -1; next = segmentEnd(text, end)) end = next;
    return end === 0 ? "" : this.#take(end);
  }

  /** Redacts whole segments. What was given out of the first one had no secret in it, so it begins the result as well. */
  #take(end: number): string {
    const out = redact(this.#segment.slice(0, end)).slice(this.#given);
    this.#segment = this.#segment.slice(end);
    this.#given = 0;
    this.#hinted = false;
    return out;
  }

  /** The part of an unfinished line that no secret can begin in: whole words before the first hint. */
  #harmless(): string {
    if (this.#hinted) return "";
    const text = this.#segment;
    let until = lastSpace(text, text.length) + 1;
    if (until <= this.#given) return "";
    const hint = findHint(text.slice(0, until), Math.max(0, this.#given - 1));
    if (hint !== -1) {
      this.#hinted = true;
      until = Math.max(this.#given, lastSpace(text, hint + 1) + 1);
    }
    const out = text.slice(this.#given, until);
    this.#given = until;
    return out;
  }
}

function lastSpace(text: string, before: number): number {
  for (let at = before - 1; at >= 0; at--) if (text.charCodeAt(at) <= 32) return at;
  return -1;
}
