/** A row of `events`; the schema (migrations.ts) says what its columns are. */
import type { Row } from "../../system/sqlite/columns.js";
import { EVENTS_PER_SESSION } from "../log-rules.js";

export const EVENT = {
  place: "integer",
  kind: "integer",
  originator: "integer",
  since: "integer",
  encoding: "integer",
  origin: "integer?",
  body: "bytes",
  holes: "bytes?",
  remains: "bytes?",
  link: "bytes",
} as const;
export type EventRow = Row<typeof EVENT>;

export const AT_PLACE = "FROM events WHERE place = ?";

/** With 2^23 sessions the product stays exact. */
export function placeOf({ number }: { readonly number: number }, id: number): number {
  return number * EVENTS_PER_SESSION + id;
}

/** The events that spell out the id of a turn or call; what remains of them when they expire begins with it too. */
export function opensTurnOrCall(kind: string): boolean {
  return kind === "TurnStarted" || kind === "ToolCallStarted";
}
