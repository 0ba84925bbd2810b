/**
 * UTF-8 bytes to text, piece by piece (WHATWG "UTF-8 decode"): one byte order mark at the start is dropped, a character that
 * is split between two pieces is completed by the second, bytes that are no UTF-8 become U+FFFD.
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
    // Only a piece that ends in ASCII and began on a character is whole for certain; decoding it needs no memory and is
    // several times faster.
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
