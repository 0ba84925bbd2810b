/** What an event of the engine changes on the screen. */

import { shownInput, typedText } from "../../../base/own-shell.js";
import { formatStats, turnStats } from "../../../base/turn-stats.js";
import type { InputContent } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { EventPayloads } from "../../../protocol/events.js";
import { type ClientId, isId } from "../../../protocol/ids.js";
import { isJsonObject, type JsonValue } from "../../../protocol/json.js";
import { endsWithPlan } from "../../sdk/plan-choices.js";
import { addCosts, addStreamed, addSubagent, newTurn } from "../../sdk/shown/costs.js";
import { noticeOf } from "../../sdk/shown/notices.js";
import type { Block } from "../content/block.js";
import { openTodos } from "../content/todo.js";
import { type Effect, type QueuedInput, type Reduced, type State, without } from "../state.js";
import { reduceToken } from "./tokens.js";
import {
  endAgent,
  printFinished,
  progressOfAgent,
  progressOfCall,
  resultOfCall,
  startAgent,
  startCall,
} from "./tool-calls.js";

const RECENT_TURNS = 5;
/** After a turn of this length the user may have left the terminal. */
const LONG_TURN_MS = 10_000;

export function reduceEvent(state: State, event: Envelope, now: number): Reduced {
  switch (event.kind) {
    case "TurnStarted":
      return sentByOther(startTurn(state, event.payload, now), event.originator);
    case "InputQueued":
      return { state: { ...state, queue: [...state.queue, queued(event.payload, state)] }, effects: [] };
    case "InputSteered":
      return steered(state, event.payload);
    case "InputDropped":
      return dropped(state, event.payload);
    case "ThinkingDelta":
      return think(state, event.payload.text, now);
    case "TextDelta":
      return answer(state, event.payload.text, now);
    case "AnswerRetracted":
      return afterThinking({ ...state, answering: false }, now, [
        { do: "drop answer" },
        notice("warning", "The answer was interrupted. The model starts it again."),
      ]);
    case "AnswerEnded": {
      const { provider, model } = event.payload;
      return endAnswer({ ...state, model: `${provider}:${model}` }, now);
    }
    case "ToolCallStarted": {
      const ended = endAnswer(state, now);
      return { state: startCall(ended.state, event.payload, now), effects: ended.effects };
    }
    case "ToolCallProgress":
      return { state: progressOfCall(state, event.payload), effects: [] };
    case "SubagentStarted":
      return { state: startAgent(state, event.payload, now), effects: [] };
    case "SubagentProgress":
      return { state: progressOfAgent(state, event.payload), effects: [] };
    case "ToolResult":
      return printFinished(withTodos(resultOfCall(state, event.payload, now), event.payload));
    case "SubagentEnded": {
      const costs = addSubagent(state.costs, shownPart(state, event.payload));
      return { state: { ...endAgent(state, event.payload, now), costs }, effects: [] };
    }
    case "CostIncremented":
      return {
        state: { ...state, costs: addCosts(state.costs, shownPart(state, event.payload)) },
        effects: [],
      };
    case "PermissionRequested":
      return {
        state: { ...state, questions: [...state.questions, event.payload] },
        effects: [{ do: "call person", text: event.payload.summary }],
      };
    case "Notice": {
      const { token, message } = event.payload;
      return token === undefined ? reduceNotice(state, event, now) : reduceToken(state, { token, message }, now);
    }
    case "PermissionResolved":
      return resolved(state, event.payload);
    case "TurnEnded":
      return endTurn(state, event.payload, now);
    case "ModeChanged": {
      const { mode } = event.payload;
      const next = mode === "plan" ? state : without(state, "plan");
      const { place } = state;
      if (place === undefined) return { state: next, effects: [{ do: "refresh" }] };
      return { state: { ...next, place: { ...place, mode } }, effects: [] };
    }
    case "CustomEvent":
      if (event.payload.namespace === BACKGROUND)
        return { state: inBackground(state, event.payload.payload), effects: [] };
      return reduceNotice(state, event, now);
    default:
      return reduceNotice(state, event, now);
  }
}

const BACKGROUND = "background";

/** Shows how many background commands run. */
function inBackground(state: State, payload: JsonValue): State {
  const { place } = state;
  const running = isJsonObject(payload) && typeof payload.running === "number" ? payload.running : 0;
  if (place === undefined) return state;
  const { background: _, ...others } = place;
  return { ...state, place: running === 0 ? others : { ...others, background: running } };
}

function notice(level: "info" | "warning" | "error", text: string): Effect {
  return { do: "print", block: { kind: "notice", level, text } };
}

function reduceNotice(state: State, event: Envelope, now: number): Reduced {
  const found = noticeOf(event);
  if (found === undefined) return { state, effects: [] };
  if ("progress" in found) {
    const isRetry = event.kind === "Retrying" || event.kind === "RateLimited";
    const retryAt = isRetry ? now + event.payload.wait_ms : undefined;
    return { state: withProgress(state, found.progress, retryAt), effects: [] };
  }
  const ended = endAnswer(state, now);
  return { state: ended.state, effects: [...ended.effects, { do: "print", block: found }] };
}

/** Empty text ends the progress. */
function withProgress(state: State, text: string, retryAt?: number): State {
  const { turn, command } = state;
  const progress = text === "" ? {} : { progress: text };
  if (turn !== undefined) {
    const { progress: _, retryAt: _before, ...rest } = turn;
    return { ...state, turn: { ...rest, ...progress, ...(retryAt !== undefined && { retryAt }) } };
  }
  if (command === undefined) return state;
  const { progress: _, ...rest } = command;
  return { ...state, command: { ...rest, ...progress } };
}

function startTurn(
  state: State,
  { turn: id, input, queued: taken = 0 }: EventPayloads["TurnStarted"],
  now: number,
): Reduced {
  const text = typedText(input);
  const media = countMedia(input);
  const { turn } = state;
  return {
    state: {
      ...without(state, "plan"),
      costs: newTurn(state.costs),
      queue: state.queue.slice(Math.min(taken, state.queue.length)),
      turn: {
        id,
        startedAt: turn?.id === undefined ? (turn?.startedAt ?? now) : now,
        text,
        answered: false,
        cancelling: false,
      },
    },
    effects: [{ do: "print", block: { kind: "prompt", text: shownInput(input), ...media } }],
  };
}

function sentByOther({ state, effects }: Reduced, sender: ClientId): Reduced {
  if (sender === state.client) return { state, effects };
  const notification: Effect = { do: "tell who", client: sender, text: "Sent by <client>." };
  return { state, effects: [...effects, notification] };
}

function countMedia(input: readonly InputContent[]): { readonly images: number; readonly audio?: number } {
  const count = (wanted: string) => input.filter(({ type }) => type === wanted).length;
  const audio = count("audio");
  return { images: count("image"), ...(audio > 0 && { audio }) };
}

function queued({ input, delivery, from }: EventPayloads["InputQueued"], { client }: State): QueuedInput {
  const media = countMedia(input);
  return { text: typedText(input), ...media, delivery, own: from === client };
}

/** The oldest of the waiting steering inputs. */
function steered(state: State, { input }: EventPayloads["InputSteered"]): Reduced {
  const at = state.queue.findIndex(({ delivery }) => delivery === "steer");
  const queue = at === -1 ? state.queue : state.queue.toSpliced(at, 1);
  const media = countMedia(input);
  const block: Block = { kind: "prompt", text: shownInput(input), ...media, steered: true };
  return { state: { ...state, queue }, effects: [{ do: "print", block }] };
}

/** Puts this user's inputs back into the editor without sending them. */
function dropped(state: State, { inputs }: EventPayloads["InputDropped"]): Reduced {
  const texts = inputs.map((input) => typedText(input));
  const gone = state.queue.filter(({ text }) => texts.includes(text));
  const own = gone.filter((input) => input.own).map(({ text }) => text);
  const foreign = gone.filter((input) => !input.own);
  const effects: Effect[] = own.length === 0 ? [] : [{ do: "restore", text: own.join("\n\n") }];
  for (const { text } of foreign) effects.push(notice("info", `Not sent: ${text}`));
  return { state: { ...state, queue: state.queue.filter((input) => !gone.includes(input)) }, effects };
}

function think(state: State, text: string, now: number): Reduced {
  const ended = state.answering ? endAnswer(state, now) : { state, effects: [] };
  const before = ended.state.thinking ?? { text: "", startedAt: now };
  return {
    state: markAnswered({ ...withStreamed(ended.state, text, now), thinking: { ...before, text: before.text + text } }),
    effects: ended.effects,
  };
}

function answer(state: State, text: string, now: number): Reduced {
  if (text === "") return { state, effects: [] };
  return afterThinking(markAnswered({ ...withStreamed(state, text, now), answering: true }), now, [
    { do: "answer", text },
  ]);
}

function withStreamed(state: State, text: string, now: number): State {
  const { costs, model, place, hidesCost } = state;
  if (hidesCost) return state;
  return { ...state, costs: addStreamed(costs, { text, model, price: place?.price?.output, now }) };
}

/** Thinking is printed when something follows it. */
function afterThinking(state: State, now: number, effects: readonly Effect[]): Reduced {
  const { thinking } = state;
  if (thinking === undefined) return { state, effects };
  const block: Block = { kind: "thinking", text: thinking.text, elapsedMs: now - thinking.startedAt };
  const print: readonly Effect[] = thinking.text.trim() === "" ? [] : [{ do: "print", block }];
  return { state: without(state, "thinking"), effects: [...print, ...effects] };
}

function endAnswer(state: State, now: number): Reduced {
  const over = { ...state, answering: false };
  return afterThinking(over, now, state.answering ? [{ do: "end answer" }] : []);
}

function markAnswered(state: State): State {
  const { turn } = state;
  if (turn === undefined || (turn.answered && turn.progress === undefined)) return state;
  const { progress: _progress, retryAt: _retryAt, ...rest } = turn;
  return { ...state, turn: { ...rest, answered: true } };
}

/** The newest list is pinned while something of it is open. */
function withTodos(state: State, { status, details }: EventPayloads["ToolResult"]): State {
  if (!Array.isArray(details?.todos) || status !== "ok") return state;
  const todos = openTodos(details);
  return todos === undefined ? without(state, "todos") : { ...state, todos };
}

function resolved(state: State, { call, decision, decided_by, message }: EventPayloads["PermissionResolved"]): Reduced {
  const open = state.questions.some((question) => question.call === call);
  const questions = state.questions.filter((question) => question.call !== call);
  // Another client, a timeout or a rule answered first.
  const foreign = open && decided_by !== state.client;
  const verb = decision === "deny" ? "denied" : "allowed";
  const rest = message ? ` ${message}` : "";
  const notification: Effect = isId("cli", decided_by)
    ? { do: "tell who", client: decided_by, text: `Already ${verb} by <client>.${rest}` }
    : notice("info", message ?? `Already ${verb} by ${decided_by}.`);
  return { state: { ...state, questions }, effects: foreign && !WITH_TURN.has(decided_by) ? [notification] : [] };
}

/** What a question ends with when its turn does: the turn says so. */
const WITH_TURN: ReadonlySet<string> = new Set(["cancelled", "interrupted"]);

/** Leaves out what it cost, where the person wants to see no cost. */
function shownPart<P extends { readonly cost?: unknown }>({ hidesCost }: State, payload: P): P {
  if (!hidesCost) return payload;
  const { cost: _, ...rest } = payload;
  return { ...rest, by_model: undefined } as unknown as P;
}

function endTurn(state: State, ended: EventPayloads["TurnEnded"], now: number): Reduced {
  const { turn } = state;
  const { outcome, usage, cost, by_model: shares, failure, truncated } = shownPart(state, ended);
  const answerEnd = endAnswer(state, now);
  const calls = printFinished(endOpenCalls(answerEnd.state));
  const elapsedMs = turn === undefined ? 0 : now - turn.startedAt;
  const stats = turnStats(usage, elapsedMs, { cost, shares });
  const effects: Effect[] = [...answerEnd.effects, ...calls.effects];
  if (truncated) effects.push(notice("warning", "The answer was cut off at the model's output limit."));
  effects.push({
    do: "print",
    block: {
      kind: "turn-end",
      outcome,
      elapsedMs,
      summary: formatStats(stats),
      ...(failure !== undefined && { failure: failure.message }),
    },
  });
  const isTakenBack = outcome === "cancelled" && turn !== undefined && !turn.answered;
  // What was typed later stands after it. An InputDropped follows, which then has nothing to restore.
  const own = isTakenBack ? state.queue.filter((input) => input.own) : [];
  if (isTakenBack) {
    effects.push({ do: "restore", text: [turn.text, ...own.map(({ text }) => text)].join("\n\n") });
  }
  if (elapsedMs >= LONG_TURN_MS) effects.push({ do: "call person", text: "The turn has ended." });
  effects.push({ do: "refresh" });
  const recent = outcome === "answered" ? [...state.recent, stats].slice(-RECENT_TURNS) : state.recent;
  const queue = state.queue.filter((input) => !own.includes(input));
  const plan = endsWithPlan(ended) ? { plan: ended.turn } : {};
  return { state: { ...without(calls.state, "turn", "thinking"), ...plan, questions: [], queue, recent }, effects };
}

/** A turn that failed may leave calls without a result. */
function endOpenCalls(state: State): State {
  const at = state.tools.findIndex(({ result }) => result === undefined);
  if (at === -1) return state;
  return { ...state, tools: state.tools.filter(({ result }) => result !== undefined) };
}
