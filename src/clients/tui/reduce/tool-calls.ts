/** The calls of a turn, from their start until they can be printed. */
import type { EventPayloads } from "../../../protocol/events.js";
import type { ToolBlock } from "../content/block.js";
import type { Effect, Reduced, State } from "../state.js";

const PROGRESS_TAIL = 64 * 1024;

export function startCall(state: State, { call, tool, args }: EventPayloads["ToolCallStarted"], now: number): State {
  const block: ToolBlock = { kind: "tool", call, tool, args, progress: "", startedAt: now };
  const { turn } = state;
  return {
    ...state,
    tools: [...state.tools, block],
    ...(turn && { turn: { ...turn, answered: true } }),
  };
}

export function progressOfCall(state: State, { call, text }: EventPayloads["ToolCallProgress"]): State {
  return change(state, call, (block) => ({ ...block, progress: (block.progress + text).slice(-PROGRESS_TAIL) }));
}

export function startAgent(state: State, started: EventPayloads["SubagentStarted"]): State {
  const { call, session, type, description } = started;
  return change(state, call, (block) => ({ ...block, agent: { session, type, description, calls: 0, tokens: 0 } }));
}

export function progressOfAgent(state: State, { call, text, tokens }: EventPayloads["SubagentProgress"]): State {
  return change(state, call, (block) => {
    const { agent } = block;
    const counted = agent && { ...agent, calls: agent.calls + 1, tokens };
    return {
      ...block,
      progress: `${block.progress}${text}\n`.slice(-PROGRESS_TAIL),
      ...(counted && { agent: counted }),
    };
  });
}

export function endAgent(state: State, { call, usage }: EventPayloads["SubagentEnded"]): State {
  const tokens = usage.input + usage.cache_read + usage.cache_write + usage.output;
  return change(state, call, (block) => (block.agent ? { ...block, agent: { ...block.agent, tokens } } : block));
}

export function resultOfCall(state: State, result: EventPayloads["ToolResult"], now: number): State {
  const { call, tool, status, content, details } = result;
  const known = state.tools.some((block) => block.call === call);
  const started = known ? state : startCall(state, { call, tool, args: {} }, now);
  const end = { status, content, endedAt: now, ...(details !== undefined && { details }) };
  return change(started, call, (block) => ({ ...block, result: end }));
}

/** Calls are printed in the model's order, so one that ended early waits for those before it. */
export function printFinished(state: State): Reduced {
  const open = state.tools.findIndex(({ result }) => result === undefined);
  const count = open === -1 ? state.tools.length : open;
  const effects: Effect[] = state.tools.slice(0, count).map((block) => ({ do: "print", block }));
  return { state: { ...state, tools: state.tools.slice(count) }, effects };
}

function change(state: State, call: string, update: (block: ToolBlock) => ToolBlock): State {
  return { ...state, tools: state.tools.map((block) => (block.call === call ? update(block) : block)) };
}
