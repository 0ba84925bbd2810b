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
import { type EventField, eventField, failureField } from "../protocol/event-fields.js";
import { isJsonObject, type JsonValue } from "../protocol/json.js";
import { withoutContent } from "./expired.js";

export interface Redactor {
  redact(text: string): string;
  stream(): RedactorStream;
}

export interface RedactorStream {
  push(text: string): string;
  end(): string;
}

/** Replaces content that could not be recorded. */
export const NOT_RECORDED = "«not-recorded»";

/** The fields of a block that are not text: the bytes of an image may look like anything, and a call is named by its id. */
const UNREAD_FIELDS: ReadonlyMap<JsonValue | undefined, ReadonlySet<string>> = new Map([
  ["image", new Set(["type", "media_type", "data"])],
  ["opaque", new Set(["type", "provider", "data"])],
  ["tool_use", new Set(["type", "call"])],
]);

/** A shorter key of an object is no secret. */
const SHORTEST_SECRET = 8;

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
    return { ...event, payload: this.#fields(event.payload, (name) => eventField(event.kind, name)) } as Envelope;
  }

  #fields(fields: object, rowOf: (name: string) => EventField | undefined): object {
    return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, this.#field(value, rowOf(name))]));
  }

  #field(value: JsonValue | undefined, row: EventField | undefined): unknown {
    if (value === undefined) return undefined;
    // A field that no row declares may hold anything.
    if (row === undefined) return this.#value(value);
    switch (row.holds) {
      case "name":
      case "opaque":
        return value;
      case "failure":
        return isJsonObject(value) ? this.#fields(value, failureField) : this.#value(value);
      case "blocks":
      case "inputs":
      case "shape":
        return this.#value(value, "blocks");
      case "label":
      case "words":
      case "object":
      case "value":
      case "extra":
        return this.#value(value);
    }
  }

  /** Only `blocks` have images and the shape of an answer: an argument that looks like one is text like any other. */
  #value(value: JsonValue, as: "json" | "blocks" = "json", levels = MOST_LEVELS): JsonValue {
    if (typeof value === "string") return this.#redactor.redact(value);
    if (levels === 0 || typeof value === "bigint") throw new Error("no JSON holds this");
    if (Array.isArray(value)) return value.map((item) => this.#value(item, as, levels - 1));
    if (!isJsonObject(value)) return value;
    const whole = as === "blocks" ? UNREAD_FIELDS.get(value.type) : undefined;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key.length < SHORTEST_SECRET ? key : this.#redactor.redact(key),
        item === undefined || whole?.has(key) === true ? item : this.#value(item, as, levels - 1),
      ]),
    );
  }
}

/** The fields that cannot be content: ids, names and numbers. */
function unrecorded(event: Envelope): Envelope {
  const { payload } = withoutContent(event, NOT_RECORDED);
  const fields = Object.entries(payload).map(([name, value]) => {
    if (eventField(event.kind, name)?.holds !== "label") return [name, value];
    return [name, Array.isArray(value) ? [] : NOT_RECORDED];
  });
  return { ...event, payload: Object.fromEntries(fields) } as unknown as Envelope;
}

function isBetweenAttempts(event: Envelope): boolean {
  return BETWEEN_ATTEMPTS.has(event.kind) || (event.kind === "CostIncremented" && event.payload.abandoned === true);
}

function withText(event: Delta, text: string): Delta {
  return { ...event, payload: { ...event.payload, text } } as Delta;
}
