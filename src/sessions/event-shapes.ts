/** Checks the payload of an event that comes from a file. A field that has no row may hold anything. */
import { schemaProblems } from "../base/json-schema.js";
import { EVENT_FIELDS, EVENT_KINDS, type EventField } from "../protocol/event-fields.js";
import type { EventKind } from "../protocol/events.js";
import { isId } from "../protocol/ids.js";
import type { JsonObject } from "../protocol/json.js";

export function isEventKind(kind: unknown): kind is EventKind {
  return EVENT_KINDS.some((known) => known === kind);
}

/** The first thing that is wrong with it, or undefined. */
export function payloadProblem(kind: EventKind, payload: JsonObject): string | undefined {
  return schemaProblems(shapeOf(kind), payload)[0];
}

const shapes = new Map<EventKind, JsonObject>();

function shapeOf(kind: EventKind): JsonObject {
  const known = shapes.get(kind);
  if (known !== undefined) return known;
  const fields: readonly (readonly [string, EventField])[] = Object.entries(EVENT_FIELDS[kind]);
  const shape = {
    type: "object",
    properties: Object.fromEntries(fields.map(([name, { schema }]) => [name, schema])),
    required: fields.filter(([, field]) => !field.optional).map(([name]) => name),
  };
  shapes.set(kind, shape);
  return shape;
}

export function isClientId(value: unknown): value is `cli_${string}` {
  return typeof value === "string" && isId("cli", value);
}
