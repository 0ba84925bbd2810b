/**
 * Hides secrets in events before they are logged.
 *
 * 1. The text of an answer is checked as a whole, however it was cut into deltas. The number of events, their order and their cuts stay:
 *    what has no secret in it is stored as clients got it, and the marker of a secret is in the delta in which the secret begins.
 * 2. A delta is held back until all of its text is checked, and with it the events after it: a word until it ends, a line from the first word that
 *    hints at a secret on.
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
  push(text: string): readonly RedactedPiece[];
  end(): readonly RedactedPiece[];
}

/** A part of a text after its redaction: a stretch without a secret, or the marker of one. */
export interface RedactedPiece {
  readonly text: string;
  /** The number of characters that it stands for. */
  readonly length: number;
  readonly isMarker: boolean;
}

/** Replaces content that could not be recorded. */
export const NOT_RECORDED = "«not-recorded»";

/** The fields of a block that are not text: the bytes of an image or of audio may look like anything, and a call is named by its id. */
const UNREAD_FIELDS: ReadonlyMap<JsonValue | undefined, ReadonlySet<string>> = new Map([
  ["image", new Set(["type", "media_type", "data"])],
  ["audio", new Set(["type", "media_type", "data"])],
  ["opaque", new Set(["type", "provider", "data"])],
  ["tool_use", new Set(["type", "call"])],
]);

/** A shorter key of an object is no secret. */
const SHORTEST_SECRET = 8;

/** Deeper than anything a wire lets through. */
const MOST_LEVELS = 500;

/** The answer continues after these: they do not split words. */
const BETWEEN_ATTEMPTS: ReadonlySet<Envelope["kind"]> = new Set([
  "RateLimited",
  "Retrying",
  "FailedOver",
  "ModelRouted",
]);

type Delta = Extract<Envelope, { kind: "TextDelta" | "ThinkingDelta" }>;

interface Held {
  readonly event: Envelope;
  /** The checked text of a delta. */
  text: string;
  /** The characters of a delta that are not checked yet. */
  unchecked: number;
}

export class EventRedaction {
  readonly #redactor: Redactor;
  #stream: { readonly kind: Delta["kind"]; text: RedactorStream } | undefined;
  /** Oldest first. */
  #held: Held[] = [];

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** The events that are ready to be written, in order. */
  take(event: Envelope): Envelope[] {
    if (isDelta(event)) {
      const before = event.kind === this.#stream?.kind ? [] : this.end();
      this.#stream ??= { kind: event.kind, text: this.#redactor.stream() };
      this.#check(event, this.#stream);
      return [...before, ...this.#ready()];
    }
    if (this.#stream === undefined || !isBetweenAttempts(event)) return [...this.end(), this.#whole(event)];
    this.#held.push({ event: this.#whole(event), text: "", unchecked: 0 });
    return this.#ready();
  }

  /** Releases everything, as if the text ended here. */
  end(): Envelope[] {
    if (this.#stream === undefined) return [];
    this.#put(this.#tried(() => this.#stream?.text.end() ?? []));
    this.#stream = undefined;
    return this.#ready();
  }

  #check(event: Delta, stream: { text: RedactorStream }): void {
    const { text } = event.payload;
    this.#held.push({ event, text: "", unchecked: text.length });
    this.#put(
      this.#tried(
        () => stream.text.push(text),
        () => {
          stream.text = this.#redactor.stream();
        },
      ),
    );
  }

  /** Text that cannot be checked is not stored. */
  #tried(check: () => readonly RedactedPiece[], failed = () => {}): readonly RedactedPiece[] {
    try {
      return check();
    } catch {
      failed();
      const length = this.#held.reduce((sum, { unchecked }) => sum + unchecked, 0);
      return length === 0 ? [] : [{ text: NOT_RECORDED, length, isMarker: true }];
    }
  }

  /** Gives each delta the pieces that stand for its text. */
  #put(pieces: readonly RedactedPiece[]): void {
    let at = 0;
    for (const { text, length, isMarker } of pieces) {
      for (let done = 0; done < length; ) {
        while (this.#held[at]?.unchecked === 0) at++;
        const held = this.#held[at];
        if (held === undefined) return;
        const end = Math.min(length, done + held.unchecked);
        if (!isMarker) held.text += text.slice(done, end);
        else if (done === 0) held.text += text;
        held.unchecked -= end - done;
        done = end;
      }
    }
  }

  #ready(): Envelope[] {
    const open = this.#held.findIndex(({ unchecked }) => unchecked > 0);
    const ready = this.#held.splice(0, open === -1 ? this.#held.length : open);
    return ready.map(({ event, text }) => (isDelta(event) ? withText(event, text) : event));
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

/** Hides secrets in events that leave or enter: there may be new rules since they were written. */
export async function* redactEvents(events: AsyncIterable<Envelope>, redactor: Redactor): AsyncGenerator<Envelope> {
  const redaction = new EventRedaction(redactor);
  for await (const event of events) yield* redaction.take(event);
  yield* redaction.end();
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

function isDelta(event: Envelope): event is Delta {
  return event.kind === "TextDelta" || event.kind === "ThinkingDelta";
}

function isBetweenAttempts(event: Envelope): boolean {
  return BETWEEN_ATTEMPTS.has(event.kind) || (event.kind === "CostIncremented" && event.payload.abandoned === true);
}

function withText(event: Delta, text: string): Delta {
  return { ...event, payload: { ...event.payload, text } } as Delta;
}
