/** Reads back what export-jsonl.ts wrote, also when lines of it are lost or damaged. */
import type { Envelope } from "../../protocol/envelope.js";
import { isId } from "../../protocol/ids.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { withNewIds } from "../branch.js";
import { isClientId, isEventKind, payloadProblem } from "../event-shapes.js";
import { type NewSession, StoreError } from "../store.js";
import { EventOrder } from "./event-order.js";
import { FORMAT_VERSION } from "./export-jsonl.js";
import { asCount, asObject, asString, asTime } from "./fields.js";
import type { ImportOptions } from "./import.js";
import type { SourceLine } from "./lines.js";
import type { ImportNotes } from "./notes.js";

/** The record, from the header or, if that is lost, from the first lines. */
export function ownRecord(head: readonly SourceLine[], options: ImportOptions): NewSession {
  const header = head.map(({ value }) => value).find(isHeader) ?? {};
  if (typeof header.version === "number" && header.version > FORMAT_VERSION) {
    throw new StoreError(
      "incompatible",
      `The file has the form ${header.version} of a newer program; this one reads up to ${FORMAT_VERSION}. Upgrade Oxbow.`,
    );
  }
  const events = head.map(({ value }) => value).filter((value) => !isHeader(value));
  // Older files have no AnswerEnded.
  const answered = asObject(events.find(({ kind }) => kind === "AnswerEnded" || kind === "CostIncremented")?.payload);
  const created = [header.created_at, ...events.map(({ ts }) => ts)].map(asTime).find((at) => at !== undefined);
  const title = asString(header.title);
  const branch = branchOf(header.branch_of);
  return {
    id: options.session,
    log: options.log,
    cwd: options.cwd ?? asString(header.cwd) ?? "",
    provider: asString(header.provider) ?? asString(answered.provider) ?? "",
    model: asString(header.model) ?? asString(answered.model) ?? "",
    created_at: created ?? options.startedAt ?? new Date(0).toISOString(),
    ...(title !== undefined && { title: options.redactor.redact(title) }),
    ...(branch !== undefined && { branch_of: branch }),
  };
}

export async function* ownEvents(
  lines: AsyncIterable<SourceLine>,
  options: ImportOptions,
  notes: ImportNotes,
): AsyncGenerator<Envelope> {
  const order = new EventOrder(notes);
  let expected = 0;
  let read = 0;
  let time = "";
  const missing: [number, number][] = [];
  for await (const { number, value } of lines) {
    if (isHeader(value)) {
      expected = Math.max(expected, asCount(value.last_event));
      continue;
    }
    if (typeof value.kind === "string" && !isEventKind(value.kind)) {
      notes.unknown(value.kind);
      // It exists, although this program does not know it.
      if (asCount(value.id) === read + 1) read++;
      continue;
    }
    const event = envelopeOf(value, options, time);
    if (typeof event === "string") {
      notes.damaged(number, event);
      continue;
    }
    if (event.id > read + 1) missing.push([read + 1, event.id - 1]);
    read = Math.max(read, event.id);
    time = event.ts;
    for (const ready of order.take(event)) yield withNewIds(ready, options);
  }
  for (const ready of order.end()) yield withNewIds(ready, options);
  if (missing.length > 0) notes.add(missingText(missing));
  if (read < expected) notes.add(`The file ends at event ${read} of ${expected}: the rest is missing.`);
}

const NAMED_GAPS = 8;

function missingText(gaps: readonly (readonly [number, number])[]): string {
  const named = gaps.slice(0, NAMED_GAPS).map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`));
  const all = gaps.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  const more = gaps.length > NAMED_GAPS ? " and others" : "";
  return `${all} of the events ${all === 1 ? "is" : "are"} missing in the file: ${named.join(", ")}${more}.`;
}

export function isHeader(value: JsonObject): boolean {
  return value.oxbow === "session";
}

export function looksLikeEnvelope(value: JsonObject): boolean {
  return isEventKind(value.kind) && isJsonObject(value.payload) && typeof value.session === "string";
}

/** The envelope with its own ids, or what is wrong with it. */
function envelopeOf(value: JsonObject, { session, client }: ImportOptions, time: string): Envelope | string {
  const { id, kind, originator, ts, payload } = value;
  if (!isEventKind(kind)) return "it is not an event";
  if (!isJsonObject(payload)) return "its payload is missing";
  const problem = payloadProblem(kind, payload);
  if (problem !== undefined) return problem.replace(/^the arguments/, "its payload");
  const at = asTime(ts) ?? (time === "" ? undefined : time);
  if (at === undefined) return "its time is missing";
  const by = isClientId(originator) ? originator : client;
  return { id: asCount(id), kind, session, originator: by, ts: at, payload } as unknown as Envelope;
}

function branchOf(value: JsonObject[string]): NewSession["branch_of"] {
  const { session, event } = asObject(value);
  if (typeof session !== "string" || !isId("sess", session) || asCount(event) === 0) return undefined;
  return { session, event: asCount(event) };
}
