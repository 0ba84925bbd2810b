/**
 * Assembles tool calls of Chat Completions from their deltas. Servers differ: a call comes whole or in pieces, has its id and name
 * in every piece or only in a late one, shares index 0 with other calls or has no index.
 *
 * 1. Calls are in the order of their index, those that share one in the order they began.
 * 2. Before the end a call is emitted only when a later one has begun and its arguments are one complete object.
 */
import type { ModelEvent } from "../../engine/ports.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { asNumber, asObject, asText } from "./fields.js";
import { isCompleteObject, toolCall } from "./tool-arguments.js";

interface PendingCall {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly written: string;
  readonly emitted: boolean;
}

export type ChatCalls = readonly PendingCall[];

interface CallDelta {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly piece: string;
}

export function takeCallDeltas(calls: ChatCalls, deltas: readonly JsonValue[]): ChatCalls {
  return deltas.reduce<ChatCalls>((before, delta) => takeDelta(before, readDelta(asObject(delta))), calls);
}

function readDelta(delta: JsonObject): CallDelta {
  const call = asObject(delta.function);
  const given = call.arguments ?? "";
  return {
    index: asNumber(delta.index),
    id: asText(delta.id),
    name: asText(call.name),
    piece: typeof given === "string" ? given : JSON.stringify(given),
  };
}

function takeDelta(calls: ChatCalls, delta: CallDelta): ChatCalls {
  const before = belongsTo(calls, delta);
  if (before === undefined) {
    const { index, id, name, piece } = delta;
    const begun = [...calls, { index, id, name, written: piece, emitted: false }];
    return begun.sort((a, b) => (a.index ?? 0) - (b.index ?? 0));
  }
  const after: PendingCall = {
    ...before,
    id: before.id || delta.id,
    // The same name again is a repetition; any other text is the rest of it.
    name: before.name === delta.name ? before.name : before.name + delta.name,
    written: before.written + delta.piece,
  };
  return calls.map((call) => (call === before ? after : call));
}

/** The call that a delta continues, or none when it begins one. */
function belongsTo(calls: ChatCalls, { index, id, name, piece }: CallDelta): PendingCall | undefined {
  const sameIndex = calls.filter((call) => call.index === index);
  const sameId = id === "" ? undefined : sameIndex.find((call) => call.id === id);
  if (sameId !== undefined) return sameId;
  const newest = sameIndex.at(-1);
  if (newest === undefined) return index === undefined && id === "" && name === "" ? calls.at(-1) : undefined;
  if (name === "" || newest.name === "") return newest;
  // Named again under the same index. Another id means another call; without ids, a complete call cannot continue.
  if (id !== "" && newest.id !== "") return undefined;
  return piece !== "" && isCompleteObject(newest.written) ? undefined : newest;
}

/** Emits the calls that are certainly complete. */
export function emitComplete(calls: ChatCalls, events: ModelEvent[]): ChatCalls {
  const out = [...calls];
  for (const [place, call] of calls.slice(0, -1).entries()) {
    if (call.emitted) continue;
    // With a gap before it, a call with a lower index could still begin.
    if ((call.index ?? 0) > place || !isCompleteObject(call.written)) break;
    events.push({ type: "block", block: toolCall(call.name, call.written) });
    out[place] = { ...call, emitted: true };
  }
  return out;
}

export function emitRest(calls: ChatCalls, events: ModelEvent[]): void {
  for (const call of calls) {
    if (!call.emitted) events.push({ type: "block", block: toolCall(call.name, call.written) });
  }
}
