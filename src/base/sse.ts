/**
 * Server-sent events, decoded as they arrive (WHATWG HTML, "parsing an event stream").
 *
 * 1. Lines end with CR, LF or CRLF. A CR ends its line at once; if the next byte is an LF, that is part of it.
 * 2. An event is dispatched at its blank line, never before; an event without a blank line at the end of the stream is dropped.
 * 3. The way the bytes are split into chunks only affects when an event is seen.
 */
import { Utf8Stream } from "./utf8-stream.js";

export interface SseEvent {
  /** Default: `message`. */
  readonly event: string;
  readonly data: string;
  /** The newest `id` seen so far; it stays valid for later events. */
  readonly id: string;
}

export class SseDecoder {
  readonly #utf8 = new Utf8Stream();
  /** The beginning of a line whose end has not arrived. */
  #partial = "";
  #afterReturn = false;
  #event = "";
  #data: string | undefined;
  #id = "";
  #retryMs: number | undefined;

  /** Tells how long the server asks to wait before reconnecting. */
  get retryMs(): number | undefined {
    return this.#retryMs;
  }

  push(bytes: Uint8Array): readonly SseEvent[] {
    const events: SseEvent[] = [];
    const text = this.#utf8.push(bytes);
    if (text === "") return events;
    let start = this.#afterReturn && text.charCodeAt(0) === LINE_FEED ? 1 : 0;
    this.#afterReturn = false;
    // Each search resumes after its last hit, so the whole chunk is scanned once for each kind of line end.
    let feed = text.indexOf("\n", start);
    let carriage = text.indexOf("\r", start);
    while (feed !== -1 || carriage !== -1) {
      const atReturn = carriage !== -1 && (feed === -1 || carriage < feed);
      const end = atReturn ? carriage : feed;
      const line = this.#partial === "" ? text.slice(start, end) : this.#partial + text.slice(start, end);
      this.#partial = "";
      start = end + 1;
      if (atReturn) {
        if (feed === start) start++;
        else if (start === text.length) this.#afterReturn = true;
      }
      this.#take(line, events);
      if (feed !== -1 && feed < start) feed = text.indexOf("\n", start);
      if (carriage !== -1 && carriage < start) carriage = text.indexOf("\r", start);
    }
    this.#partial += text.slice(start);
    return events;
  }

  #take(line: string, events: SseEvent[]): void {
    if (line === "") {
      if (this.#data !== undefined) events.push({ event: this.#event || "message", data: this.#data, id: this.#id });
      this.#data = undefined;
      this.#event = "";
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon === -1 ? line : line.slice(0, colon);
    const from = colon === -1 ? line.length : colon + (line.charCodeAt(colon + 1) === SPACE ? 2 : 1);
    this.#set(field, line.slice(from));
  }

  #set(field: string, value: string): void {
    switch (field) {
      case "data":
        this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
        return;
      case "event":
        this.#event = value;
        return;
      case "id":
        if (!value.includes("\0")) this.#id = value;
        return;
      case "retry":
        if (/^[0-9]+$/.test(value)) this.#retryMs = Number(value);
        return;
    }
  }
}

const LINE_FEED = 10;
const SPACE = 32;
