/**
 * Every key, resize and answer of the log turns the state of the replay into a new one. Nothing here reads, writes or waits; the
 * runner acts on the state.
 */
import { needlePattern } from "./needle.js";
import { reduceKey } from "./replay-keys.js";
import { noSuchTurn, type ReplayAction, type ReplayState, sane, scrolledTo, wentTo } from "./replay-state.js";
import { layout } from "./step-layout.js";

/** The limits for the time that a step is shown. */
const LONGEST_PAUSE_MS = 2000;
const SHORTEST_PAUSE_MS = 150;

export function reduceReplay(state: ReplayState, action: ReplayAction): ReplayState {
  switch (action.type) {
    case "key":
      return reduceKey(state, action.key);
    case "resize":
      return scrolledTo({ ...state, size: sane(action.size) }, state.scroll);
    case "indexed":
      return grow(state, action);
    case "index-ended":
      return closeIndex(state, action.problem);
    case "content":
      if (action.step !== state.at) return state;
      return revealed({ ...state, content: action.content });
    case "found":
      return action.search === state.search ? found(state, action) : state;
    case "not-found":
      if (action.search !== state.search) return state;
      return { ...state, search: undefined, message: action.problem ?? `“${action.search.text}” was not found.` };
    case "tick":
      return tick(state);
  }
}

/** How long to show this step while playing; undefined if there is nothing to wait for. */
export function pauseMs({ playing, content, at, steps }: ReplayState): number | undefined {
  const [step, next] = [steps[at], steps[at + 1]];
  if (!playing || content === undefined || step === undefined || next === undefined) return undefined;
  const recorded = next.at - step.at;
  if (!Number.isFinite(recorded)) return SHORTEST_PAUSE_MS;
  return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, recorded));
}

function grow(state: ReplayState, { steps, costs, upTo }: ReplayAction & { readonly type: "indexed" }): ReplayState {
  const known = state.steps.length;
  const starts = steps.flatMap((step, index) => (step.kind === "input" ? [known + index] : []));
  const grown: ReplayState = {
    ...state,
    steps: state.steps.concat(steps),
    turnStarts: state.turnStarts.concat(starts),
    costs: state.costs.concat(costs),
    indexed: { upTo, done: false },
  };
  if (grown.goal === "end") return { ...wentTo(grown, grown.steps.length - 1), goal: "end" };
  const start = grown.goal === undefined ? undefined : grown.turnStarts[grown.goal.turn - 1];
  return start === undefined ? grown : { ...wentTo(grown, start), goal: undefined, message: "" };
}

function closeIndex(state: ReplayState, problem: string | undefined): ReplayState {
  const closed: ReplayState = { ...state, indexed: { upTo: state.indexed.upTo, done: true, problem }, goal: undefined };
  const playing = state.playing && state.at < state.steps.length - 1;
  if (typeof state.goal !== "object") return { ...closed, playing };
  return { ...closed, playing, message: noSuchTurn(state, state.goal.turn) };
}

function found(state: ReplayState, { search, step }: ReplayAction & { readonly type: "found" }): ReplayState {
  const message = step <= search.from ? "The search continued from the beginning." : "";
  return revealed({ ...wentTo(state, step), search: undefined, reveal: true, message });
}

/** Scrolls to the match; shows the details if only they contain it. */
function revealed(state: ReplayState): ReplayState {
  const { content } = state;
  if (content === undefined) return state;
  if (!state.reveal) return scrolledTo(state, state.scroll);
  const pattern = needlePattern(state.needle);
  for (const details of state.details ? [true] : [false, true]) {
    const lines = layout(content, { columns: state.size.columns, details });
    const line = lines.findIndex(({ source }) => source.search(pattern) !== -1);
    if (line !== -1) return scrolledTo({ ...state, details, reveal: false }, line);
    if (content.title.search(pattern) !== -1) break;
  }
  return { ...state, reveal: false };
}

function tick(state: ReplayState): ReplayState {
  if (!state.playing) return state;
  const next = wentTo(state, state.at + 1);
  const isLast = next.at === next.steps.length - 1;
  return isLast && state.indexed.done ? { ...next, playing: false, message: "The end." } : next;
}
