/**
 * A session that runs against the results of another one: no tool runs.
 *
 * 1. A call gets the recorded result of the same tool with the same arguments. Each result is used once, in its order.
 * 2. Any other call ends the turn, and the message says where: what follows would rest on a result that nothing gave.
 * 3. Arguments are compared as the log has them, with secrets hidden.
 */
import { shorten } from "../../base/cap-text.js";
import { once } from "../../base/once.js";
import type { ToolCall, ToolLink, ToolOutcome } from "../../engine/ports.js";
import type { SessionPart } from "../../feature/part.js";
import type { Envelope } from "../../protocol/envelope.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { CallId, SessionId } from "../../protocol/ids.js";
import { isJsonObject, type JsonValue } from "../../protocol/json.js";
import { EventRedaction, type Redactor } from "../redacted-events.js";

export interface RecordedCalls {
  /** The session that has the results. */
  readonly source: SessionId;
  /** Its events behind the turns that both have. */
  events(): AsyncIterable<Envelope>;
  redactor(): Promise<Redactor>;
  /** Ends the turn. */
  stop(why: Failure): never;
}

export function rerun(recorded: RecordedCalls | undefined): SessionPart {
  if (recorded === undefined) return { name: "rerun" };
  return { name: "rerun", links: { tool: [{ name: "01-recorded", run: fromRecord(recorded) }] } };
}

interface Recorded {
  readonly order: number;
  readonly words: string;
  readonly outcome: ToolOutcome;
}

function fromRecord({ source, events, redactor, stop }: RecordedCalls): ToolLink["run"] {
  const read = once(async () => readCalls(events()));
  const hide = once(redactor);
  return async (call) => {
    const [calls, redact] = await Promise.all([read(), hide()]);
    const found = calls.get(keyOf(hidden(call, redact)))?.shift();
    if (found !== undefined) return found.outcome;
    const [next] = [...calls.values()].flat().sort((one, other) => one.order - other.order);
    const instead = next === undefined ? "it made no further calls" : `its next one: ${next.words}`;
    return stop(failure("CallNotRecorded", { call: wordsOf(call), session: source, instead }));
  };
}

/** In the order in which they were made. */
async function readCalls(events: AsyncIterable<Envelope>): Promise<Map<string, Recorded[]>> {
  const calls = new Map<string, Recorded[]>();
  const open = new Map<CallId, { readonly key: string; readonly words: string; readonly order: number }>();
  const results = new Map<CallId, { outcome: ToolOutcome }>();
  for await (const { id, kind, payload } of events) {
    if (kind === "ToolCallStarted") open.set(payload.call, { key: keyOf(payload), words: wordsOf(payload), order: id });
    else if (kind === "ToolResult") {
      const call = open.get(payload.call);
      if (call === undefined) continue;
      const { status, content, details } = payload;
      const recorded = { ...call, outcome: { status, content, ...(details !== undefined && { details }) } };
      results.set(payload.call, recorded);
      calls.set(call.key, [...(calls.get(call.key) ?? []), recorded]);
    } else if (kind === "ToolResultChanged") {
      const known = results.get(payload.call);
      if (known !== undefined) known.outcome = { ...known.outcome, status: payload.status, content: payload.content };
    }
  }
  return calls;
}

function hidden(call: ToolCall, redactor: Redactor): Pick<ToolCall, "tool" | "args"> {
  const event = { kind: "ToolCallStarted", payload: { call: call.call, tool: call.tool, args: call.args } };
  const [shown] = new EventRedaction(redactor).take(event as unknown as Envelope);
  return shown?.kind === "ToolCallStarted" ? shown.payload : call;
}

function keyOf({ tool, args }: Pick<ToolCall, "tool" | "args">): string {
  return JSON.stringify([tool, inOrder(args)]);
}

/** The order of names says nothing. */
function inOrder(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((each) => inOrder(each) ?? null);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, inOrder(each)]),
  );
}

const MOST_WORDS = 300;

function wordsOf({ tool, args }: Pick<ToolCall, "tool" | "args">): string {
  return shorten(`${tool} ${JSON.stringify(args)}`, MOST_WORDS);
}
