/**
 * Describes how deep JSON from outside may be nested. Recursive code handles each level, and a value of some thousand levels overflows
 * the stack wherever it is first processed: when it is recorded, shown or sent.
 */
import { isJsonObject, type JsonValue } from "../protocol/json.js";

/** More than any tool needs. */
export const MOST_ARGUMENT_LEVELS = 100;
/** A frame contains arguments a few levels down, so arguments that are too deep stay too deep after the frame was cut. */
const MOST_LEVELS = 200;

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;

export interface JsonShape {
  /** The depth of its nesting. */
  readonly levels: number;
  /** The most values that it may have, those of lists and objects included. */
  readonly values: number;
}

/** Returns the levels of a JSON text; for other text any number. */
export function nestingOf(text: string): number {
  return jsonShape(text).levels;
}

/** Measures a JSON text without parsing it; for other text the figures mean nothing. */
function jsonShape(text: string): JsonShape {
  const meter = new JsonMeter();
  meter.take(text);
  return meter;
}

/** Measures a JSON text that arrives in pieces. */
export class JsonMeter implements JsonShape {
  levels = 0;
  values = 1;
  #level = 0;
  #isQuoted = false;
  #isEscaped = false;

  take(piece: string): void {
    let at = 0;
    if (this.#isEscaped && piece !== "") {
      this.#isEscaped = false;
      at = 1;
    }
    let { levels, values } = this;
    let level = this.#level;
    let isQuoted = this.#isQuoted;
    for (; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (isQuoted) {
        if (code === BACKSLASH) at++;
        else if (code === QUOTE) isQuoted = false;
      } else if (code === QUOTE) isQuoted = true;
      else if (code === COMMA) values++;
      else if (code === 91 || code === 123) {
        values++;
        if (++level > levels) levels = level;
      } else if (code === 93 || code === 125) level--;
    }
    // A backslash was the last character.
    this.#isEscaped = at > piece.length;
    this.levels = levels;
    this.values = values;
    this.#level = level;
    this.#isQuoted = isQuoted;
  }
}

/** Throws as JSON.parse does. Values deeper than 200 levels become null. */
export function parseShallow(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue;
  // Each level takes at least an opening and a closing character.
  return text.length > 2 * MOST_LEVELS && nestingOf(text) > MOST_LEVELS ? cut(value, MOST_LEVELS) : value;
}

function cut(value: JsonValue, levels: number): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return null;
  if (!isJsonObject(value)) return value.map((item) => cut(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cut(item as JsonValue, levels - 1)]));
}
