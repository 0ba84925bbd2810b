/**
 * An event as a line of `events.jsonl`: its envelope as JSON, id and kind first, so that a reader finds an event without reading the
 * rest of the line. People may edit the folder, so lines have no hash chain; those of earlier versions have one, which is ignored.
 */
import type { Envelope } from "../../protocol/envelope.js";
import type { EventKind } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { ChainBreak } from "../chain-break.js";
import { payloadProblem } from "../event-shapes.js";
import { withoutContent } from "../expired.js";
import type { PreparedEvent } from "../log-rules.js";

export function lineOf(session: SessionId, { id, kind, originator, ts, json }: PreparedEvent): string {
  return `${JSON.stringify({ id, kind, session, originator, ts }).slice(0, -1)},"payload":${json}}`;
}

/** Renders the remains of an event whose content has expired. */
export function renderExpired(event: Envelope): string {
  const { id, kind, session, originator, ts, payload } = withoutContent(event);
  return JSON.stringify({ id, kind, session, originator, ts, payload });
}

/** Reads the event of a line, if it is the one that belongs there. */
export function readEvent(line: string, expected: { readonly id: number; readonly session: SessionId }): Envelope {
  const event = parsed(line);
  if (event === undefined) {
    throw new ChainBreak("unreadable", expected.id, `Oxbow cannot read event ${expected.id}.`);
  }
  if (event.id > expected.id) {
    throw new ChainBreak("missing", expected.id, `Event ${expected.id} is missing or was moved.`);
  }
  if (event.id < expected.id || event.session !== expected.session) {
    throw new ChainBreak("changed", expected.id, `Event ${expected.id} was changed or moved.`);
  }
  return event;
}

/** The kinds that make a conversation: readers rely on their fields. */
const CHECKED: ReadonlySet<EventKind> = new Set([
  "TurnStarted",
  "TextDelta",
  "ThinkingDelta",
  "ToolCallStarted",
  "ToolResult",
  "ToolResultChanged",
  "AnswerEnded",
  "CostIncremented",
  "TurnEnded",
  "InputQueued",
  "InputSteered",
  "InputDropped",
  "ContextAdded",
  "CompactionTriggered",
]);

/** Every marker of what was hidden, not recorded or expired begins with it: Oxbow itself changed such an event. */
const MARKER = "«";

/** Refuses an event that an edit has left without what its readers need. */
export function checkShape({ id, kind, payload }: Envelope, line: string): void {
  if (!CHECKED.has(kind) || line.includes(MARKER)) return;
  const problem = payloadProblem(kind, payload as unknown as JsonObject);
  if (problem === undefined) return;
  throw new ChainBreak("changed", id, `Event ${id} was edited and is no ${kind} any more: ${problem}.`);
}

/** Undefined when it is not an event. */
export function parsed(line: string): Envelope | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { id, kind, session, originator, ts, payload } = value;
  const hasTexts = [kind, session, originator, ts].every((each) => typeof each === "string");
  if (typeof id !== "number" || !hasTexts || !isJsonObject(payload)) return undefined;
  return { id, kind, session, originator, ts, payload } as unknown as Envelope;
}

/** The id and kind at the beginning of a line, without reading the rest. */
export function labelOf(line: string): { readonly id: number; readonly kind: string } | undefined {
  const found = /^\{"id":(\d{1,16}),"kind":"([A-Za-z]+)"/.exec(line);
  return found === null ? undefined : { id: Number(found[1]), kind: found[2] as string };
}
