/**
 * Branches: a session that begins as a copy of another one's turns.
 *
 * 1. A branch is cut after a TurnEnded and nowhere else.
 * 2. The ids of the session, its turns and its calls are new, in every field that holds one: the old prefix and the ULID made of
 *    the first 128 bits of sha256(old id || id of the new log). Clients keep theirs. Ids
 *    inside a text do not change.
 * 3. The id of the new log comes from the old log, the cut and the number of the copy, so two people who branch the same source
 *    at the same place get the same branch. A second branch at the same place is the next copy.
 */
import { createHash } from "node:crypto";
import { AnswerEnds, oldShape, withOldShape } from "../protocol/answer-ends.js";
import type { InputContent } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import { eventField } from "../protocol/event-fields.js";
import type { AnswerShape, EventPayloads, TurnOutcome } from "../protocol/events.js";
import type { Id, IdPrefix, LogId, SessionId, TurnId } from "../protocol/ids.js";
import { addUsage, NO_USAGE, type Usage } from "../protocol/usage.js";
import { StoreError } from "./store.js";

export interface SessionIds {
  readonly session: SessionId;
  readonly log: LogId;
}

/** The id that replaces `old` in the log `log`. */
export function derivedId<P extends IdPrefix>(prefix: P, old: string, log: LogId): Id<P> {
  return `${prefix}_${ulidOf(old + log)}`;
}

/** The ids of a branch. `copy` 0 is the first one at this place; a user who wants another takes the next number. */
export function branchIds(source: SessionIds, at: number, copy = 0): SessionIds {
  const log: LogId = `log_${ulidOf(`${source.log}${at}${copy === 0 ? "" : `#${copy}`}`)}`;
  return { session: derivedId("sess", source.session, log), log };
}

export function notABoundary(at: number): StoreError {
  return new StoreError("invalid", `Event ${at} is not the end of a turn, and a branch can only begin there.`);
}

/** The same event in another session. */
export function withNewIds(event: Envelope, { session, log }: SessionIds): Envelope {
  return { ...event, session, payload: payloadWithNewIds(event, log) } as Envelope;
}

/** Each field that holds the id of a turn or a call gets the new one. */
function payloadWithNewIds(event: Envelope, log: LogId): Envelope["payload"] {
  const newId = (kind: "turn" | "call", old: string) => derivedId(kind, old, log);
  const fields = Object.entries(event.payload).map(([name, value]) => {
    const id = eventField(event.kind, name)?.id;
    return [name, id === undefined || typeof value !== "string" ? value : newId(id, value)];
  });
  const payload = Object.fromEntries(fields) as Envelope["payload"];
  const changed = { ...event, payload } as Envelope;
  switch (changed.kind) {
    // A copy does not take over the permissions: an imported file can say anything.
    case "TurnStarted":
    case "TurnEnded": {
      const { mode: _, folders: __, ...others } = changed.payload as EventPayloads["TurnStarted"];
      return others;
    }
    case "ModeChanged":
      return { ...changed.payload, copied: true };
    case "AnswerEnded":
      return shapeWithNewIds(changed.payload, log);
    case "CostIncremented": {
      const shape = oldShape(changed.payload);
      return shape === undefined ? payload : withOldShape(changed.payload, shapeWithNewIds(shape, log));
    }
    case "PermissionRequested": {
      const { subagent } = changed.payload;
      return subagent === undefined
        ? payload
        : { ...changed.payload, subagent: { ...subagent, call: derivedId("call", subagent.call, log) } };
    }
    default:
      return payload;
  }
}

function shapeWithNewIds<S extends AnswerShape>(shape: S, log: LogId): S {
  const blocks = shape.blocks?.map((block) =>
    block.type === "tool_use" ? { ...block, call: derivedId("call", block.call, log) } : block,
  );
  return blocks === undefined ? shape : { ...shape, blocks };
}

export interface TurnSummary {
  /** From 1, in the order they happened. */
  readonly number: number;
  /** The prompt variant that the session got. */
  readonly variant?: string;
  readonly turn: TurnId;
  readonly startEvent: number;
  readonly startedAt: string;
  /** The place where a branch can be cut; absent while the turn has no end. */
  readonly endEvent?: number;
  readonly outcome?: TurnOutcome;
  /** The input and the newest answer, both cut if they are long. */
  readonly input: string;
  readonly text: string;
  readonly toolCalls: number;
  readonly usage: Usage;
}

const PREVIEW = 500;

/** The turns of a session, each as soon as its end is read. Holds one of them at a time. */
export async function* turnsOf(events: AsyncIterable<Envelope>): AsyncGenerator<TurnSummary> {
  let number = 0;
  let open: TurnSummary | undefined;
  /** The last answer was complete: further text belongs to the next one. */
  let answered = false;
  const ends = new AnswerEnds();
  for await (const event of events) {
    if (ends.take(event) !== undefined) answered = true;
    if (event.kind === "TurnStarted") {
      if (open !== undefined) yield withPreview(open);
      open = startOf(event, ++number);
      answered = false;
    }
    if (open === undefined) continue;
    switch (event.kind) {
      case "TextDelta":
        // One character past the limit shows that there was more.
        open = { ...open, text: ((answered ? "" : open.text) + event.payload.text).slice(0, PREVIEW + 1) };
        answered = false;
        break;
      case "AnswerRetracted":
        open = { ...open, text: "" };
        break;
      case "ToolCallStarted":
        open = { ...open, toolCalls: open.toolCalls + 1 };
        break;
      case "CostIncremented":
        open = { ...open, usage: addUsage(open.usage, event.payload.usage) };
        break;
      case "TurnEnded": {
        const { outcome, text, usage } = event.payload;
        yield withPreview({ ...open, endEvent: event.id, outcome, text, usage });
        open = undefined;
      }
    }
  }
  if (open !== undefined) yield withPreview(open);
}

function startOf(event: Extract<Envelope, { kind: "TurnStarted" }>, number: number): TurnSummary {
  const input = preview(event.payload.input.map(shown).join("\n"));
  const { turn, variant } = event.payload;
  const start = { number, turn, ...(variant !== undefined && { variant }), startEvent: event.id, startedAt: event.ts };
  return { ...start, input, text: "", toolCalls: 0, usage: NO_USAGE };
}

function withPreview(turn: TurnSummary): TurnSummary {
  return { ...turn, text: preview(turn.text) };
}

function shown(content: InputContent): string {
  return content.type === "text" ? content.text : `[${content.media_type}]`;
}

function preview(text: string): string {
  if (text.length <= PREVIEW) return text;
  return `${text.slice(0, PREVIEW - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

function ulidOf(seed: string): string {
  let bits = BigInt(`0x${createHash("sha256").update(seed).digest("hex").slice(0, 32)}`);
  let out = "";
  for (let i = 0; i < 26; i++) {
    out = `${ALPHABET[Number(bits & 31n)]}${out}`;
    bits >>= 5n;
  }
  return out;
}
