/**
 * An event as a line of `events.jsonl`: the envelope with its link in the chain, in one fixed form, so that the bytes of the
 * payload are found without guessing. A line whose content has expired also has the digest of that content.
 */

import type { Envelope } from "../../protocol/envelope.js";
import type { SessionId } from "../../protocol/ids.js";
import { ChainBreak } from "../chain-break.js";
import { withoutContent } from "../expired.js";
import { StoreError } from "../store.js";
import { type Chain, digestOf } from "./chain.js";
import { checkTime } from "./session-conf.js";

/** An event in its stored form, made when it is appended: the caller may change its objects later. */
export interface PreparedEvent {
  readonly id: number;
  readonly kind: Envelope["kind"];
  readonly ts: string;
  readonly originator: string;
  readonly json: string;
}

export interface EventLine {
  readonly line: string;
  readonly link: string;
}

export interface StoredEvent {
  readonly envelope: Envelope;
  readonly link: string;
}

interface Expired {
  /** The digest of the expired payload. */
  readonly was: string;
  /** The tag of the current payload. */
  readonly remains: string;
}

type Fields = Pick<Envelope, "id" | "kind" | "session" | "originator" | "ts">;

export function prepareEvent(session: SessionId, event: Envelope): PreparedEvent {
  const { id, kind, originator, ts } = event;
  if (event.session !== session) {
    throw new StoreError("invalid", `Event ${id} belongs to ${event.session}, not to ${session}.`);
  }
  if (!Number.isSafeInteger(id) || id < 1) throw new StoreError("invalid", `${id} is not an event id.`);
  checkTime(ts);
  return { id, kind, originator, ts, json: jsonOf(event) };
}

function jsonOf({ id, payload }: Envelope): string {
  try {
    const json: string | undefined = JSON.stringify(payload);
    if (json === undefined) throw new TypeError("it has no JSON form");
    return json;
  } catch (cause) {
    const detail = (cause as Error).message;
    throw new StoreError("invalid", `Oxbow cannot store the payload of event ${id}: ${detail}.`, { cause });
  }
}

export function renderEvent(
  event: PreparedEvent,
  place: { readonly session: SessionId; readonly chain: Chain; readonly previous: string },
): EventLine {
  const link = place.chain.link(place.previous, { ...event, digest: digestOf(event.json) });
  const fields = { ...event, session: place.session } as unknown as Fields;
  return { link, line: `${beginning(fields, link)}${event.json}}\n` };
}

/** The line with the remains of its event; an expired line does not change. */
export function expireLine(line: string, chain: Chain): string {
  const parts = split(line);
  if (parts === undefined || parts.expired !== undefined) return `${line}\n`;
  const { fields, link, payload, json } = parts;
  const left = JSON.stringify(withoutContent({ ...fields, payload } as Envelope).payload);
  const expired = { was: digestOf(json), remains: chain.remains(link, digestOf(left)) };
  return `${beginning(fields, link, expired)}${left}}\n`;
}

/** The event of a line, if it is unchanged. */
export function readEvent(
  line: string,
  expected: { readonly id: number; readonly session: SessionId; readonly chain: Chain; readonly previous: string },
): StoredEvent {
  const { id, session, chain, previous } = expected;
  const parts = split(line);
  if (parts === undefined) throw new ChainBreak("unreadable", id, `Oxbow cannot read event ${id}.`);
  const { fields, link, expired, payload, json } = parts;
  if (fields.id > id) throw new ChainBreak("missing", id, `Event ${id} is missing or was moved.`);
  const digest = digestOf(json);
  const fits =
    fields.id === id &&
    fields.session === session &&
    link === chain.link(previous, { ...fields, digest: expired?.was ?? digest }) &&
    (expired === undefined || expired.remains === chain.remains(link, digest));
  if (!fits) throw new ChainBreak("changed", id, `Event ${id} was changed or moved.`);
  // The link proves that this was appended, and only envelopes are appended.
  return { envelope: { ...fields, payload } as Envelope, link };
}

/** The id and the link a line claims to have. */
export function claims(line: string): { readonly id: number; readonly link: string; readonly ts: string } | undefined {
  const parts = split(line);
  return parts && { id: parts.fields.id, link: parts.link, ts: parts.fields.ts };
}

/** The id and kind at the beginning of a line, without reading the rest. */
export function labelOf(line: string): { readonly id: number; readonly kind: string } | undefined {
  const found = /^\{"id":(\d{1,16}),"kind":"([A-Za-z]+)"/.exec(line);
  return found === null ? undefined : { id: Number(found[1]), kind: found[2] as string };
}

function beginning({ id, kind, session, originator, ts }: Fields, link: string, expired?: Expired): string {
  return `${JSON.stringify({ id, kind, session, originator, ts, link, ...expired }).slice(0, -1)},"payload":`;
}

interface Parts {
  readonly fields: Fields;
  readonly link: string;
  readonly expired: Expired | undefined;
  readonly payload: unknown;
  /** The payload as text of the line. */
  readonly json: string;
}

/** Undefined when it is not a line in our form. */
function split(line: string): Parts | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { id, kind, session, originator, ts, link, was, remains, payload } = value as Record<string, unknown>;
  if (typeof id !== "number" || typeof ts !== "string" || typeof link !== "string") return undefined;
  const fields = { id, kind, session, originator, ts } as Fields;
  const expired = typeof was === "string" && typeof remains === "string" ? { was, remains } : undefined;
  const start = beginning(fields, link, expired);
  if (!line.startsWith(start)) return undefined;
  return { fields, link, expired, payload, json: line.slice(start.length, -1) };
}
