/**
 * The conversation of one session, as a pure fold over its events: `reduce(state, event)`. It knows no clock but the times of the events,
 * so a stored session, a live one and one moment of the past are the same to it.
 *
 * 1. An event changes the last turn alone; the others stay the same objects, so that they are not drawn again.
 * 2. Events may begin in the middle of a turn: older ones are loaded later, and all are folded again.
 *
 * What is added to the web client:
 * - a fact of a session: a field here and a case in `reduce`, with a line in conversation.test.ts;
 * - a page: a row in pages.ts (its path, its title, `load`), and a component that it loads;
 * - a component: a file in view/, its look in styles/ (all files there become one style sheet, in the order of their names);
 * - a question to the engine: `ask` and `tell` of store.ts, never a request of its own. What the protocol cannot say becomes a query,
 *   a command or an event of it.
 */
import { shownInput } from "../../../base/own-shell.js";
import { formatStats, turnStats } from "../../../base/turn-stats.js";
import type { InputContent } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { EventPayloads, TurnOutcome } from "../../../protocol/events.js";
import type { ClientId, SessionId, TurnId } from "../../../protocol/ids.js";
import { isJsonObject, type JsonObject } from "../../../protocol/json.js";
import { endsWithPlan } from "../../sdk/plan-choices.js";
import { addCosts, addSubagent, type CostState, NO_COSTS, newTurn } from "../../sdk/shown/costs.js";
import { type NoticeBlock, noticeOf } from "../../sdk/shown/notices.js";
import type { ToolBlock } from "../../sdk/shown/tool-block.js";

export type Question = EventPayloads["PermissionRequested"];

/** Describes what an answer consists of, in its order. */
export type Item =
  | { readonly kind: "text"; readonly id: number; readonly text: string }
  | {
      readonly kind: "thinking";
      readonly id: number;
      readonly text: string;
      readonly startedAt: number;
      readonly endedAt: number;
    }
  | { readonly kind: "call"; readonly id: number; readonly block: ToolBlock }
  | { readonly kind: "input"; readonly id: number; readonly text: string; readonly images: readonly Image[] }
  | { readonly kind: "notice"; readonly id: number; readonly notice: NoticeBlock }
  | { readonly kind: "summary"; readonly id: number; readonly text: string };

export interface Image {
  readonly media_type: string;
  readonly data: string;
}

export interface Turn {
  /** Of its first event. */
  readonly id: number;
  readonly turn?: TurnId;
  readonly originator?: ClientId;
  readonly startedAt: number;
  readonly input: string;
  readonly images: readonly Image[];
  readonly items: readonly Item[];
  /** Holds what it waits for or does, if that is neither thinking, text nor a call. */
  readonly progress?: string;
  readonly end?: {
    readonly outcome: TurnOutcome;
    readonly at: number;
    readonly stats: string;
    readonly failure?: string;
    readonly truncated?: true;
  };
}

export interface Waiting {
  readonly text: string;
  readonly delivery: "queue" | "steer";
  readonly from: ClientId;
}

export interface Todo {
  readonly text: string;
  readonly status: "done" | "in_progress" | "pending";
}

export interface Agent {
  readonly session: SessionId;
  readonly type: string;
  readonly description: string;
  readonly startedAt: number;
  readonly last?: string;
  readonly endedAt?: number;
  readonly outcome?: TurnOutcome;
}

export interface Conversation {
  readonly session: SessionId;
  /** The last event; 0 before the first one. */
  readonly last: number;
  readonly lastTs?: string;
  readonly turns: readonly Turn[];
  readonly queue: readonly Waiting[];
  readonly questions: readonly Question[];
  readonly todos: readonly Todo[];
  readonly agents: readonly Agent[];
  /** A turn ended with a plan that waits for a decision. */
  readonly plan?: TurnId;
  readonly costs: CostState;
  /** `provider:model` of the last answer. */
  readonly model?: string;
  readonly ended?: string;
}

const PROGRESS_TAIL = 64 * 1024;

export function emptyConversation(session: SessionId): Conversation {
  return { session, last: 0, turns: [], queue: [], questions: [], todos: [], agents: [], costs: NO_COSTS };
}

export function isBusy({ turns }: Conversation): boolean {
  const turn = turns.at(-1);
  return turn !== undefined && turn.end === undefined;
}

export function reduce(state: Conversation, event: Envelope): Conversation {
  const next = reduced(state, event);
  const ofLog = event.id > state.last && event.kind !== "StreamGap";
  return ofLog ? { ...next, last: event.id, lastTs: event.ts } : next;
}

function reduced(state: Conversation, event: Envelope): Conversation {
  const at = Date.parse(event.ts);
  switch (event.kind) {
    case "TurnStarted":
      return startTurn(state, event, at);
    case "TextDelta":
      return addText(state, event, at);
    case "ThinkingDelta":
      return think(state, event, at);
    case "AnswerRetracted":
      return withTurn(state, event, (turn) => ({ ...turn, items: withoutAnswer(turn.items) }));
    case "AnswerEnded":
      return { ...state, model: `${event.payload.provider}:${event.payload.model}` };
    case "ToolCallStarted": {
      const { call, tool, tool_kind: toolKind, args } = event.payload;
      const block: ToolBlock = {
        ...{ kind: "tool", call, tool, args, progress: "", startedAt: at },
        ...(toolKind !== undefined && { toolKind }),
      };
      return addItem(state, event, { kind: "call", id: event.id, block });
    }
    case "ToolCallProgress": {
      const { call, text } = event.payload;
      return changeCall(state, call, (block) => ({
        ...block,
        progress: (block.progress + text).slice(-PROGRESS_TAIL),
      }));
    }
    case "ToolResult":
      return endCall(state, event, at);
    case "ToolResultChanged": {
      const { call, content, status } = event.payload;
      const changed = changeCall(state, call, (block) =>
        block.result === undefined ? block : { ...block, result: { ...block.result, content, status } },
      );
      return addNotice(changed, event);
    }
    case "SubagentStarted": {
      const { call, session, type, description } = event.payload;
      const agent = { session, type, description, calls: 0, tokens: 0 };
      const known = changeCall(state, call, (block) => ({ ...block, agent }));
      return { ...known, agents: [...state.agents, { session, type, description, startedAt: at }] };
    }
    case "SubagentProgress": {
      const { call, session, text, tokens } = event.payload;
      const known = changeCall(state, call, (block) => ({
        ...block,
        progress: `${block.progress}${text}\n`.slice(-PROGRESS_TAIL),
        ...(block.agent && { agent: { ...block.agent, calls: block.agent.calls + 1, tokens } }),
      }));
      return changeAgent(known, session, (agent) => ({ ...agent, last: text }));
    }
    case "SubagentEnded": {
      const { session, outcome } = event.payload;
      const costs = addSubagent(state.costs, event.payload);
      return changeAgent({ ...state, costs }, session, (agent) => ({ ...agent, outcome, endedAt: at }));
    }
    case "CostIncremented":
      return { ...state, costs: addCosts(state.costs, event.payload) };
    case "PermissionRequested": {
      const others = state.questions.filter(({ call }) => call !== event.payload.call);
      return { ...state, questions: [...others, event.payload] };
    }
    case "PermissionResolved":
      return { ...state, questions: state.questions.filter(({ call }) => call !== event.payload.call) };
    case "InputQueued": {
      const { input, delivery, from } = event.payload;
      return { ...state, queue: [...state.queue, { text: shownInput(input), delivery, from }] };
    }
    case "InputSteered":
      return steer(state, event);
    case "InputDropped": {
      const gone = new Set(event.payload.inputs.map((input) => shownInput(input)));
      return { ...state, queue: state.queue.filter(({ text }) => !gone.has(text)) };
    }
    case "CompactionTriggered": {
      const { summary } = event.payload;
      const noted = addNotice(state, event);
      return summary === undefined ? noted : addItem(noted, event, { kind: "summary", id: event.id, text: summary });
    }
    case "Error":
      // The turn says what failed at its end.
      return event.payload.turn === undefined ? addSentence(state, event, event.payload.message) : state;
    case "TurnEnded":
      return endTurn(state, event, at);
    case "SessionEnded":
      return { ...state, ended: event.payload.reason, questions: [] };
    default:
      return addNotice(state, event);
  }
}

type Of<K extends Envelope["kind"]> = Extract<Envelope, { readonly kind: K }>;

function startTurn(state: Conversation, { id, payload, originator }: Of<"TurnStarted">, at: number): Conversation {
  const { turn, input, queued = 0 } = payload;
  const fresh: Turn = {
    ...{ id, turn, originator, startedAt: at, items: [] },
    ...{ input: shownInput(input), images: imagesOf(input) },
  };
  const { plan: _plan, ended: _ended, ...rest } = state;
  return { ...rest, turns: [...state.turns, fresh], queue: state.queue.slice(queued), costs: newTurn(state.costs) };
}

export function imagesOf(input: readonly InputContent[]): readonly Image[] {
  return input.flatMap((block) => (block.type === "image" ? [{ media_type: block.media_type, data: block.data }] : []));
}

function addText(state: Conversation, event: Of<"TextDelta">, _at: number): Conversation {
  const { text } = event.payload;
  if (text === "") return state;
  return withTurn(state, event, (turn) => {
    const last = turn.items.at(-1);
    const items =
      last?.kind === "text"
        ? [...turn.items.slice(0, -1), { ...last, text: last.text + text }]
        : [...turn.items, { kind: "text" as const, id: event.id, text }];
    return withoutProgress({ ...turn, items });
  });
}

function think(state: Conversation, event: Of<"ThinkingDelta">, at: number): Conversation {
  const { text } = event.payload;
  return withTurn(state, event, (turn) => {
    const last = turn.items.at(-1);
    if (last?.kind === "thinking") {
      return { ...turn, items: [...turn.items.slice(0, -1), { ...last, text: last.text + text, endedAt: at }] };
    }
    if (text === "") return turn;
    const item = { kind: "thinking" as const, id: event.id, text, startedAt: at, endedAt: at };
    return withoutProgress({ ...turn, items: [...turn.items, item] });
  });
}

/** The text behind the last call is withdrawn. */
function withoutAnswer(items: readonly Item[]): readonly Item[] {
  const last = items.findLastIndex(({ kind }) => kind !== "text" && kind !== "thinking");
  return items.slice(0, last + 1);
}

function endCall(state: Conversation, event: Of<"ToolResult">, at: number): Conversation {
  const { call, tool, status, content, details } = event.payload;
  const result = { status, content, endedAt: at, ...(details !== undefined && { details }) };
  const isKnown = state.turns.at(-1)?.items.some((item) => item.kind === "call" && item.block.call === call);
  const started = isKnown
    ? state
    : addItem(state, event, {
        ...{ kind: "call", id: event.id },
        block: { kind: "tool", call, tool, args: {}, progress: "", startedAt: at },
      });
  const ended = changeCall(started, call, (block) => ({ ...block, result }));
  const todos = status === "ok" ? todosOf(details) : undefined;
  return todos === undefined ? ended : { ...ended, todos };
}

/** Undefined if the result has no list. */
function todosOf(details: JsonObject | undefined): readonly Todo[] | undefined {
  if (!Array.isArray(details?.todos)) return undefined;
  return details.todos.filter(isJsonObject).map(({ text, status }) => ({
    text: String(text ?? ""),
    status: status === "done" || status === "in_progress" ? status : "pending",
  }));
}

function steer(state: Conversation, event: Of<"InputSteered">): Conversation {
  const at = state.queue.findIndex(({ delivery }) => delivery === "steer");
  const queue = at === -1 ? state.queue : state.queue.toSpliced(at, 1);
  const { input } = event.payload;
  const item = { kind: "input" as const, id: event.id, text: shownInput(input), images: imagesOf(input) };
  return addItem({ ...state, queue }, event, item);
}

function endTurn(state: Conversation, event: Of<"TurnEnded">, at: number): Conversation {
  const { outcome, usage, cost, by_model: shares, failure, truncated, turn: name } = event.payload;
  const ended = withTurn(state, event, (turn) => {
    const stats = turnStats(usage, at - turn.startedAt, { cost, shares });
    return withoutProgress({
      ...turn,
      items: turn.items.map((item) => closed(item, at)),
      end: {
        ...{ outcome, at, stats: formatStats(stats) },
        ...(failure !== undefined && { failure: failure.message }),
        ...(truncated && { truncated }),
      },
    });
  });
  return { ...ended, questions: [], ...(endsWithPlan(event.payload) && { plan: name }) };
}

/** A turn that failed may leave calls without a result. */
function closed(item: Item, at: number): Item {
  if (item.kind !== "call" || item.block.result !== undefined) return item;
  return { ...item, block: { ...item.block, result: { status: "cancelled", content: [], endedAt: at } } };
}

function addNotice(state: Conversation, event: Envelope): Conversation {
  const notice = noticeOf(event);
  if (notice === undefined) return state;
  if ("progress" in notice) {
    return changeLast(state, (turn) =>
      turn.end !== undefined
        ? turn
        : notice.progress === ""
          ? withoutProgress(turn)
          : { ...turn, progress: notice.progress },
    );
  }
  return addItem(state, event, { kind: "notice", id: event.id, notice });
}

function addSentence(state: Conversation, event: Envelope, text: string): Conversation {
  return addItem(state, event, { kind: "notice", id: event.id, notice: { kind: "notice", level: "error", text } });
}

/** Between turns it stands behind the last one. */
function addItem(state: Conversation, event: Envelope, item: Item): Conversation {
  return withTurn(state, event, (turn) => withoutProgress({ ...turn, items: [...turn.items, item] }));
}

/** Changes the last turn; without one, the events begin in the middle of it. */
function withTurn(state: Conversation, { id, ts }: Envelope, change: (turn: Turn) => Turn): Conversation {
  if (state.turns.length > 0) return changeLast(state, change);
  const unknown: Turn = { id, startedAt: Date.parse(ts), input: "", images: [], items: [] };
  return { ...state, turns: [change(unknown)] };
}

function changeLast(state: Conversation, change: (turn: Turn) => Turn): Conversation {
  const turn = state.turns.at(-1);
  if (turn === undefined) return state;
  const changed = change(turn);
  return changed === turn ? state : { ...state, turns: [...state.turns.slice(0, -1), changed] };
}

function changeCall(state: Conversation, call: string, change: (block: ToolBlock) => ToolBlock): Conversation {
  return changeLast(state, (turn) => {
    const at = turn.items.findLastIndex((item) => item.kind === "call" && item.block.call === call);
    const item = turn.items[at];
    if (item?.kind !== "call") return turn;
    return { ...turn, items: turn.items.with(at, { ...item, block: change(item.block) }) };
  });
}

function changeAgent(state: Conversation, session: string, change: (agent: Agent) => Agent): Conversation {
  return { ...state, agents: state.agents.map((agent) => (agent.session === session ? change(agent) : agent)) };
}

function withoutProgress(turn: Turn): Turn {
  if (turn.progress === undefined) return turn;
  const { progress: _progress, ...rest } = turn;
  return rest;
}
