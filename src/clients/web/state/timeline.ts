/**
 * Tells where the time of a session went: what the model, the tools, the people and the subagents did, as spans. A fold over its events, without
 * a clock, so that a part of the past has the same spans as the whole.
 */
import { safeLine } from "../../../base/terminal-text.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { TurnOutcome } from "../../../protocol/events.js";
import type { Usage } from "../../../protocol/usage.js";

export const LANES = ["waiting for the model", "answer", "tools", "waiting for you", "subagents"] as const;
export type Lane = (typeof LANES)[number];

export interface Span {
  readonly lane: Lane;
  /** Spans of one lane that run together stand on rows of their own. */
  readonly row: number;
  /** The event that it begins with, and the one that it ends with; absent while it has no end. */
  readonly event: number;
  readonly end?: number;
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly failed?: true;
  readonly usage?: Usage;
  readonly usd?: number;
}

export interface TurnBand {
  readonly number: number;
  readonly event: number;
  readonly end?: number;
  readonly from: number;
  readonly to: number;
  readonly title: string;
  readonly outcome?: TurnOutcome;
  readonly usd: number;
  /** Milliseconds by component, as the engine measured them. */
  readonly parts?: Readonly<Record<string, number>>;
}

export interface Timeline {
  readonly turns: readonly TurnBand[];
  readonly spans: readonly Span[];
}

type Open = { -readonly [K in keyof Span]: Span[K] };
type OpenTurn = { -readonly [K in keyof TurnBand]: TurnBand[K] };

export function timelineOf(events: readonly Envelope[]): Timeline {
  const turns: OpenTurn[] = [];
  const spans: Open[] = [];
  const open = new Map<string, Open>();
  let last = 0;
  let turn: OpenTurn | undefined;
  const begin = (key: string, span: Omit<Open, "row" | "to">) => {
    const taken = new Set([...open.values()].filter(({ lane }) => lane === span.lane).map(({ row }) => row));
    let row = 0;
    while (taken.has(row)) row++;
    const fresh: Open = { ...span, row, to: span.from };
    open.set(key, fresh);
    spans.push(fresh);
  };
  const finish = (key: string, event: Envelope, more: Partial<Open> = {}) => {
    const span = open.get(key);
    if (span === undefined) return;
    open.delete(key);
    Object.assign(span, more, { end: event.id, to: last });
  };
  const askModel = (event: number) => begin("model", { lane: "waiting for the model", event, from: last, label: "" });
  for (const event of events) {
    last = Math.max(last, Date.parse(event.ts));
    switch (event.kind) {
      case "TurnStarted": {
        const [first] = event.payload.input;
        const title = safeLine(first?.type === "text" ? (first.text.split("\n")[0] ?? "") : "").slice(0, 200);
        turn = { number: turns.length + 1, event: event.id, from: last, to: last, title, usd: 0 };
        turns.push(turn);
        askModel(event.id);
        break;
      }
      case "TextDelta":
      case "ThinkingDelta":
        if (turn === undefined || open.has("answer")) break;
        finish("model", event);
        begin("answer", { lane: "answer", event: event.id, from: last, label: "" });
        break;
      case "AnswerEnded": {
        const label = `${event.payload.provider}:${event.payload.model}`;
        // An answer of calls alone has no delta: the calls end it.
        finish(open.has("answer") ? "answer" : "model", event, { label });
        break;
      }
      case "CostIncremented": {
        const { usage, cost, purpose } = event.payload;
        const usd = cost?.usd ?? 0;
        if (turn !== undefined) turn.usd += usd;
        const answer = purpose === undefined ? spans.findLast(({ lane }) => lane !== "tools") : undefined;
        if (answer !== undefined && answer.usage === undefined) Object.assign(answer, { usage, usd });
        break;
      }
      case "ToolCallStarted":
        finish("answer", event);
        finish("model", event);
        begin(event.payload.call, { lane: "tools", event: event.id, from: last, label: event.payload.tool });
        break;
      case "ToolResult": {
        const { call, status } = event.payload;
        finish(call, event, status === "ok" ? {} : { failed: true });
        if (![...open.values()].some(({ lane }) => lane === "tools") && turn !== undefined) askModel(event.id);
        break;
      }
      case "PermissionRequested": {
        const { call, summary } = event.payload;
        begin(`question ${call}`, { lane: "waiting for you", event: event.id, from: last, label: safeLine(summary) });
        break;
      }
      case "PermissionResolved": {
        // The call begins with the answer.
        const call = open.get(event.payload.call);
        if (call !== undefined) call.from = last;
        finish(`question ${event.payload.call}`, event, event.payload.decision === "deny" ? { failed: true } : {});
        break;
      }
      case "SubagentStarted": {
        const { session, type, description } = event.payload;
        begin(session, { lane: "subagents", event: event.id, from: last, label: `${type}: ${safeLine(description)}` });
        break;
      }
      case "SubagentEnded": {
        const { session, outcome, usage, cost } = event.payload;
        const failed = outcome === "answered" ? {} : { failed: true as const };
        finish(session, event, { ...failed, usage, usd: cost?.usd ?? 0 });
        break;
      }
      case "TurnTiming":
        if (turn !== undefined) turn.parts = event.payload.parts;
        break;
      case "TurnEnded":
        for (const key of [...open.keys()]) finish(key, event);
        if (turn !== undefined) Object.assign(turn, { to: last, end: event.id, outcome: event.payload.outcome });
        turn = undefined;
        break;
      default:
    }
    if (turn !== undefined) turn.to = last;
  }
  for (const span of open.values()) span.to = last;
  // The request that the end of the turn has made needless.
  const isReal = (span: Open) =>
    span.lane !== "waiting for the model" || span.to > span.from || span.usage !== undefined;
  return { turns, spans: spans.filter(isReal) };
}

/** Maps times to places: turns keep their length, and the time between two of them shrinks to a gap of the same width. */
export interface Axis {
  readonly length: number;
  at(time: number): number;
}

const LONGEST_GAP_SHARE = 0.015;
const LEAST_GAP_MS = 200;

export function axisOf({ turns }: Timeline): Axis {
  const busy = turns.reduce((sum, { from, to }) => sum + Math.max(1, to - from), 0);
  const gap = Math.max(LEAST_GAP_MS, busy * LONGEST_GAP_SHARE);
  const starts: number[] = [];
  let length = 0;
  for (const { from, to } of turns) {
    starts.push(length);
    length += Math.max(1, to - from) + gap;
  }
  const at = (time: number) => {
    let [low, high] = [0, turns.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((turns[middle]?.from ?? 0) <= time) low = middle;
      else high = middle - 1;
    }
    const turn = turns[low];
    if (turn === undefined) return 0;
    const inside = Math.min(Math.max(0, time - turn.from), Math.max(1, turn.to - turn.from) + gap / 2);
    return (starts[low] ?? 0) + inside;
  };
  return { length: Math.max(1, length - gap), at };
}
