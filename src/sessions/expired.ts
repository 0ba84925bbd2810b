/**
 * Computes what remains of an event after its content expired: client, time, tool, outcome, cost. A marker replaces the words of
 * people, models, files and commands, and the payload keeps its shape. A field that no row declares is dropped.
 */
import { text } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import { type EventField, eventField, failureField } from "../protocol/event-fields.js";
import { EXPIRED } from "../protocol/events.js";

type FieldRows = (name: string) => EventField | undefined;

export function withoutContent(event: Envelope, marker: string = EXPIRED): Envelope {
  return {
    ...event,
    payload: remainingFields(event.payload, (name) => eventField(event.kind, name), marker),
  } as Envelope;
}

function remainingFields(fields: object, rowOf: FieldRows, marker: string): object {
  const left = Object.entries(fields).map(([name, value]) => [name, remains(value, rowOf(name), marker)]);
  return Object.fromEntries(left.filter(([, value]) => value !== undefined));
}

function remains(value: unknown, row: EventField | undefined, marker: string): unknown {
  if (row === undefined || value === undefined) return undefined;
  switch (row.holds) {
    case "name":
    case "label":
      return value;
    case "words":
    case "value":
      return marker;
    case "blocks":
      return [text(marker)];
    case "inputs":
      return Array.isArray(value) ? value.map(() => [text(marker)]) : [];
    case "object":
      return {};
    case "failure":
      return typeof value === "object" && value !== null ? remainingFields(value, failureField, marker) : undefined;
    case "extra":
    case "shape":
    case "opaque":
      return undefined;
  }
}
