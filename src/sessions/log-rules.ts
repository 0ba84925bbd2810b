/** Describes what every store checks, and the errors with which it refuses. */
import type { Envelope } from "../protocol/envelope.js";
import { type CallId, isId, type SessionId } from "../protocol/ids.js";
import { type Fence, type NewSession, StoreError } from "./store.js";
import { toMilliseconds } from "./timestamp.js";

/** An event as it was when it was passed: the caller may change its objects later. */
export interface PreparedEvent extends Pick<Envelope, "id" | "kind" | "originator" | "ts"> {
  /** `ts` in milliseconds. */
  readonly at: number;
  /** The payload. */
  readonly json: string;
}

/** More events than any session has. */
export const EVENTS_PER_SESSION: number = 2 ** 30;

export function isEventId(id: number): boolean {
  return Number.isInteger(id) && id >= 1 && id < EVENTS_PER_SESSION;
}

export function prepareEvent(session: SessionId, event: Envelope): PreparedEvent {
  const { id, kind, originator, ts } = event;
  if (event.session !== session) throw invalid(`Event ${id} belongs to ${event.session}, not to ${session}.`);
  if (!isEventId(id)) throw invalid(`${id} is not an event id.`);
  const at = toMilliseconds(ts);
  try {
    const json: string | undefined = JSON.stringify(event.payload);
    if (json === undefined) throw new TypeError("it has no JSON form");
    return { id, kind, originator, ts, at, json };
  } catch (cause) {
    const detail = (cause as Error).message;
    throw new StoreError("invalid", `Oxbow cannot store the payload of event ${id}: ${detail}.`, { cause });
  }
}

export function checkSession({ id, log, created_at }: NewSession): void {
  if (!isId("sess", id)) throw invalid(`'${id}' is not a session id.`);
  if (!isId("log", log)) throw invalid(`'${log}' is not a log id.`);
  toMilliseconds(created_at);
}

export function checkCall(call: CallId): void {
  if (!isId("call", call)) throw invalid(`'${call}' is not a call id.`);
}

/** The events continue a log that ends with `last`. */
export function checkFollows(session: SessionId, events: readonly { readonly id: number }[], last: number): void {
  for (const [i, { id }] of events.entries()) {
    const expected = last + 1 + i;
    if (id !== expected) throw outOfOrder(session, id, expected);
  }
}

function outOfOrder(session: SessionId, id: number, expected: number): StoreError {
  const message =
    id < expected
      ? `Event ${id} of ${session} is in the log already; the next is ${expected}. Another process has written to this session.`
      : `Event ${id} of ${session} would leave a gap; the next is ${expected}.`;
  return new StoreError("conflict", message);
}

export function overtaken({ session, head }: Fence, found: number): StoreError {
  return new StoreError(
    "conflict",
    `The log of ${session} ends at event ${found}, not at ${head} as this process knows it.`,
  );
}

export function noSession(session: SessionId): StoreError {
  return new StoreError("not-found", `There is no session ${session}.`);
}

export function sessionExists(session: SessionId): StoreError {
  return new StoreError("conflict", `There is a session ${session} already, or another one with its log.`);
}

export function startedBefore(call: CallId): StoreError {
  return new StoreError("conflict", `The call ${call} was started before: it must not run again.`);
}

export function neverStarted(call: CallId): StoreError {
  return new StoreError("not-found", `The call ${call} was never started.`);
}

export function endedBefore(call: CallId, outcome: string): StoreError {
  return new StoreError("conflict", `The call ${call} has ended before, with '${outcome}'.`);
}

export function snapshotMisfits(event: number): StoreError {
  return new StoreError("conflict", `The snapshot up to event ${event} does not fit the log.`);
}

/** Tells whether an error refuses one piece of a commit and does not affect the others. */
export function isRefusal(error: unknown): error is StoreError {
  return error instanceof StoreError && REFUSALS.has(error.code);
}

const REFUSALS: ReadonlySet<string> = new Set(["conflict", "invalid", "not-found"]);

function invalid(message: string): StoreError {
  return new StoreError("invalid", message);
}
