/** A text with values that are computed from it once, on demand. */
import { type Fingerprint, fingerprint } from "./fingerprint.js";

export class SearchedText {
  /** `\n` line endings only. */
  readonly text: string;
  #print: Fingerprint | undefined;
  #lines: Set<string> | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get print(): Fingerprint {
    this.#print ??= fingerprint(this.text);
    return this.#print;
  }

  /** Tells whether some line equals this one except for spacing. */
  hasLine(line: string): boolean {
    this.#lines ??= new Set(this.text.split("\n").map(evenlySpaced));
    return this.#lines.has(evenlySpaced(line));
  }
}

export function evenlySpaced(line: string): string {
  return line.trim().replace(/\s+/g, " ");
}
