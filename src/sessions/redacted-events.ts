/**
 * Hides secrets in events before they are logged.
 *
 * 1. The text of an answer is checked as a whole, however it was cut into deltas. The number of events and their order stay.
 * 2. The last delta of an unfinished answer is held back, and so are the events between two attempts at it.
 * 3. Data that a provider expects back unchanged (`opaque`) stays as it is: the provider would refuse a changed copy.
 * 4. It never throws and never drops an event: one that cannot be redacted, or that no JSON can hold, goes to the log without its
 *    content. A missing event would be a gap, and a log refuses everything behind a gap.
 */
import type { Envelope } from "../protocol/envelope.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.js";
import { withoutContent } from "./expired.js";

export interface Redactor {
  redact(text: string): string;
  stream(): RedactorStream;
}

export interface RedactorStream {
  push(text: string): string;
  end(): string;
}

/** Fields of a payload with names of Oxbow or of the provider, never content. */
const NAMES: ReadonlySet<string> = new Set([
  "turn",
  "call",
  "tool",
  "status",
  "outcome",
  "session",
  "type",
  "provider",
  "model",
  "decision",
  "decided_by",
  "opaque",
  "jti",
  "from",
  "to",
  "by",
  "route",
  "delivery",
  "identity",
  "stop",
]);

/** Replaces content that could not be recorded. */
export const NOT_RECORDED = "«not-recorded»";

/** Deeper than anything a wire lets through. */
const MOST_LEVELS = 500;

/** The answer continues after these: they do not split words. */
const BETWEEN_ATTEMPTS: ReadonlySet<Envelope["kind"]> = new Set(["RateLimited", "Retrying", "FailedOver"]);

type Delta = Extract<Envelope, { kind: "TextDelta" | "ThinkingDelta" }>;

export class EventRedaction {
  readonly #redactor: Redactor;
  #stream: { readonly kind: Delta["kind"]; readonly text: RedactorStream } | undefined;
  #held: Delta | undefined;
  /** Events that came after the held one. */
  #after: Envelope[] = [];

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** The events that are ready to be written, in order. */
  take(event: Envelope): Envelope[] {
    const isDelta = event.kind === "TextDelta" || event.kind === "ThinkingDelta";
    if (this.#held !== undefined && isBetweenAttempts(event)) {
      this.#after.push(this.#whole(event));
      return [];
    }
    if (!isDelta || event.kind !== this.#stream?.kind) {
      const ready = this.end();
      if (!isDelta) return [...ready, this.#whole(event)];
      this.#begin(event);
      return ready;
    }
    const ready = this.#held === undefined ? [] : [this.#held, ...this.#after.splice(0)];
    this.#hold(event);
    return ready;
  }

  /** Releases the last delta. */
  end(): Envelope[] {
    const held = this.#held;
    const rest = this.#redactedRest();
    this.#held = undefined;
    this.#stream = undefined;
    return held === undefined ? [] : [withText(held, held.payload.text + rest), ...this.#after.splice(0)];
  }

  #begin(event: Delta): void {
    this.#stream = { kind: event.kind, text: this.#redactor.stream() };
    this.#hold(event);
  }

  #hold(event: Delta): void {
    this.#held = withText(event, this.#redactedPiece(event.payload.text));
  }

  #redactedPiece(text: string): string {
    try {
      return this.#stream?.text.push(text) ?? "";
    } catch {
      return NOT_RECORDED;
    }
  }

  #redactedRest(): string {
    try {
      return this.#stream?.text.end() ?? "";
    } catch {
      return NOT_RECORDED;
    }
  }

  #whole(event: Envelope): Envelope {
    try {
      return this.#redacted(event);
    } catch {
      return unrecorded(event);
    }
  }

  #redacted(event: Envelope): Envelope {
    const fields = Object.entries(event.payload as unknown as JsonObject).map(([key, value]) => [
      key,
      value === undefined || NAMES.has(key) ? value : this.#value(value),
    ]);
    return { ...event, payload: Object.fromEntries(fields) } as unknown as Envelope;
  }

  #value(value: JsonValue, levels = MOST_LEVELS): JsonValue {
    if (typeof value === "string") return this.#redactor.redact(value);
    if (levels === 0 || typeof value === "bigint") throw new Error("no JSON holds this");
    if (Array.isArray(value)) return value.map((item) => this.#value(item, levels - 1));
    if (!isJsonObject(value)) return value;
    // An image is not text, and its bytes may look like anything.
    if (value.type === "image" || value.type === "opaque") return value;
    // The shape of an answer names calls; all it quotes is arguments that were not JSON.
    const isCall = value.type === "tool_use";
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        item === undefined || (isCall && key !== "malformed") ? item : this.#value(item, levels - 1),
      ]),
    );
  }
}

/** The fields that cannot be content: ids, names and numbers. */
function unrecorded(event: Envelope): Envelope {
  const { payload } = withoutContent(event, NOT_RECORDED);
  const fields = Object.entries(payload as unknown as JsonObject).map(([key, value]) => {
    if (key === "offer" || key === "opaque") return [key, undefined];
    return [key, typeof value === "string" && !NAMES.has(key) ? NOT_RECORDED : value];
  });
  return { ...event, payload: Object.fromEntries(fields) } as unknown as Envelope;
}

function isBetweenAttempts(event: Envelope): boolean {
  return BETWEEN_ATTEMPTS.has(event.kind) || (event.kind === "CostIncremented" && event.payload.abandoned === true);
}

function withText(event: Delta, text: string): Delta {
  return { ...event, payload: { ...event.payload, text } } as Delta;
}
