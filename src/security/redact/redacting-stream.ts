/**
 * `redact` for text that comes in pieces.
 *
 * 1. However a text is split, the joined output equals `redact` of the whole.
 * 2. A word is held back until it ends, a line from the first word that hints at a secret on, a private key until its end:
 *    never more than one segment.
 */
import { plain, type RedactedPiece, redactedPieces } from "./redact.js";
import { segmentEnd } from "./segments.js";
import { findHint } from "./triggers.js";

export class RedactingStream {
  readonly #pieces = new RedactedPieces();

  push(chunk: string): string {
    return joined(this.#pieces.push(chunk));
  }

  end(): string {
    return joined(this.#pieces.end());
  }
}

/** The same in pieces, each with the length of what it stands for. */
export class RedactedPieces {
  /** The unfinished segment, from its beginning. */
  #segment = "";
  /** Says how much of it was given out already, unchanged. */
  #given = 0;
  #hinted = false;

  push(chunk: string): readonly RedactedPiece[] {
    this.#segment += chunk;
    const pieces = this.#finished();
    const harmless = this.#harmless();
    if (harmless !== "") pieces.push(plain(harmless));
    return pieces;
  }

  end(): readonly RedactedPiece[] {
    return this.#take(this.#segment.length);
  }

  #finished(): RedactedPiece[] {
    const text = this.#segment;
    let end = 0;
    for (let next = segmentEnd(text, 0); next !== -1; next = segmentEnd(text, end)) end = next;
    return end === 0 ? [] : this.#take(end);
  }

  /** Redacts whole segments. What was given out of the first one had no secret in it, so it begins the first piece as well. */
  #take(end: number): RedactedPiece[] {
    const [first, ...pieces] = redactedPieces(this.#segment.slice(0, end));
    const rest = first?.isMarker ? first : plain(first?.text.slice(this.#given) ?? "");
    this.#segment = this.#segment.slice(end);
    this.#given = 0;
    this.#hinted = false;
    return rest.length === 0 ? pieces : [rest, ...pieces];
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

function joined(pieces: readonly RedactedPiece[]): string {
  return pieces.map(({ text }) => text).join("");
}

function lastSpace(text: string, before: number): number {
  for (let at = before - 1; at >= 0; at--) if (text.charCodeAt(at) <= 32) return at;
  return -1;
}
