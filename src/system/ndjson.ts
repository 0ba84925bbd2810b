/**
 * Newline-delimited JSON, decoded as it arrives: one text per line, blank lines skipped. The last line counts also without a
 * newline, so a reader needs an explicit end.
 */
import { Utf8Stream } from "../base/utf8-stream.js";

export class NdjsonDecoder {
  readonly #utf8 = new Utf8Stream();
  #partial = "";

  push(bytes: Uint8Array): readonly string[] {
    return this.#split(this.#utf8.push(bytes));
  }

  end(): readonly string[] {
    return this.#split(`${this.#utf8.end()}\n`);
  }

  #split(text: string): readonly string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      const line = (this.#partial + text.slice(start, end)).trim();
      this.#partial = "";
      start = end + 1;
      if (line !== "") lines.push(line);
    }
    this.#partial += text.slice(start);
    return lines;
  }
}
