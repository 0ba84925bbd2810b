/**
 * Decodes UTF-8 in chunks (WHATWG "UTF-8 decode"): it drops one byte order mark at the start, joins a character that is split between
 * two chunks, and replaces invalid bytes by U+FFFD.
 */
const BYTE_ORDER_MARK = "\uFEFF";

export class Utf8Stream {
  readonly #streaming = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #whole = new TextDecoder("utf-8", { ignoreBOM: true });
  #split = false;
  #started = false;

  push(bytes: Uint8Array): string {
    const last = bytes[bytes.length - 1];
    if (last === undefined) return "";
    // A chunk that begins at a character boundary and ends in ASCII is complete; decoding it needs no state and is several times
    // faster.
    const whole = last < 0x80 && !this.#split;
    this.#split = last >= 0x80;
    return this.#withoutMark(
      whole ? this.#whole.decode(bytes) : this.#streaming.decode(bytes, { stream: this.#split }),
    );
  }

  end(): string {
    this.#split = false;
    return this.#withoutMark(this.#streaming.decode());
  }

  #withoutMark(text: string): string {
    if (this.#started || text === "") return text;
    this.#started = true;
    return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  }
}
