/** The calls of a turn, from their start until they can be printed. */
import type { EventPayloads } from "../../../protocol/events.js";
import type { ToolBlock } from "../../sdk/shown/tool-block.js";
import type { AgentWork, Effect, Reduced, State } from "../state.js";

const PROGRESS_TAIL = 64 * 1024;
const MOST_AGENTS = 100;

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

export function startAgent(state: State, started: EventPayloads["SubagentStarted"], now: number): State {
  const { call, session, type, description } = started;
  const agent = { session, type, description, calls: 0, tokens: 0 };
  const others = state.agents.filter((each) => each.session !== session).slice(-MOST_AGENTS);
  const agents = [...others, { ...agent, startedAt: now }];
  return change({ ...state, agents }, call, (block) => ({ ...block, agent }));
}

export function progressOfAgent(state: State, progress: EventPayloads["SubagentProgress"]): State {
  const { session, call, text, tokens } = progress;
  const counted = changeAgent(state, session, (agent) => ({ ...agent, calls: agent.calls + 1, tokens, last: text }));
  return change(counted, call, (block) => {
    const { agent } = block;
    const known = { ...block, progress: `${block.progress}${text}\n`.slice(-PROGRESS_TAIL) };
    return agent ? { ...known, agent: { ...agent, calls: agent.calls + 1, tokens } } : known;
  });
}

export function endAgent(state: State, ended: EventPayloads["SubagentEnded"], now: number): State {
  const { session, call, usage, outcome } = ended;
  const tokens = usage.input + usage.cache_read + usage.cache_write + usage.output;
  const known = changeAgent(state, session, (agent) => ({ ...agent, tokens, outcome, endedAt: now }));
  return change(known, call, (block) => (block.agent ? { ...block, agent: { ...block.agent, tokens } } : block));
}

function changeAgent(state: State, session: string, update: (agent: AgentWork) => AgentWork): State {
  return { ...state, agents: state.agents.map((agent) => (agent.session === session ? update(agent) : agent)) };
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
