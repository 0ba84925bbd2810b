/** What each key of the replay does. */
import { bodyRows } from "./replay-body.js";
import { noSuchTurn, type ReplayState, scrolledTo, wentTo } from "./replay-state.js";

const MAX_PROMPT = 200;
const MAX_DIGITS = 9;

export function reduceKey(state: ReplayState, key: string): ReplayState {
  if (key === "ctrl+c" || key === "ctrl+d") return { ...state, over: true };
  if (state.prompt !== undefined) return reducePrompt(state, state.prompt, key);
  if (state.help) {
    if (key === "?" || key === "escape") return closedHelp(state);
    return scrollBy(state, key) ?? reduceKey(closedHelp(state), key);
  }
  if (key === "escape" && state.search !== undefined) return { ...state, search: undefined, message: "" };
  return scrollBy(state, key) ?? move(state, key) ?? command(state, key);
}

function closedHelp(state: ReplayState): ReplayState {
  return { ...state, help: false, scroll: 0 };
}

function scrollBy(state: ReplayState, key: string): ReplayState | undefined {
  const page = Math.max(1, bodyRows(state.size) - 1);
  const lines = { pageUp: -page, pageDown: page, up: -1, down: 1 }[key];
  return lines === undefined ? undefined : scrolledTo(state, state.scroll + lines);
}

function move(state: ReplayState, key: string): ReplayState | undefined {
  const still = { ...state, playing: false, goal: undefined, search: undefined, message: "" };
  switch (key) {
    case " ":
    case "right":
    case "j":
      if (state.at < state.steps.length - 1) return wentTo(still, state.at + 1);
      return { ...still, message: state.indexed.done ? "The end." : "Still reading the session." };
    case "left":
    case "k":
    case "b":
      return state.at > 0 ? wentTo(still, state.at - 1) : { ...still, message: "This is the beginning." };
    case "n":
      return toTurn(still, turnAt(state) + 1, "The last turn.");
    case "p":
      return previousTurn(still);
    case "home":
      return wentTo(still, 0);
    case "end":
      return { ...wentTo(still, state.steps.length - 1), goal: state.indexed.done ? undefined : "end" };
    default:
      return undefined;
  }
}

function command(state: ReplayState, key: string): ReplayState {
  switch (key) {
    case "d":
      return scrolledTo({ ...state, details: !state.details }, 0);
    case "a":
      return play(state);
    case "g":
      return { ...state, prompt: { kind: "turn", text: "" }, playing: false, message: "" };
    case "/":
      return { ...state, prompt: { kind: "search", text: "" }, playing: false, message: "" };
    case "?":
      return { ...state, help: true, playing: false, scroll: 0 };
    case "q":
    case "escape":
      return { ...state, over: true };
    default:
      if (!/^\d$/.test(key)) return state;
      return { ...state, prompt: { kind: "turn", text: key }, playing: false, message: "" };
  }
}

function play(state: ReplayState): ReplayState {
  const isOver = state.indexed.done && state.at >= state.steps.length - 1;
  if (!state.playing && isOver) return { ...state, message: "The end." };
  return { ...state, playing: !state.playing, goal: undefined, search: undefined, message: "" };
}

function turnAt(state: ReplayState): number {
  return state.steps[state.at]?.turn ?? 0;
}

/** To the beginning of this turn, or from there to the turn before. */
function previousTurn(state: ReplayState): ReplayState {
  const start = state.turnStarts[turnAt(state) - 1];
  if (start !== undefined && start < state.at) return wentTo(state, start);
  const before = state.turnStarts[turnAt(state) - 2];
  return before === undefined ? { ...wentTo(state, 0), message: "This is the beginning." } : wentTo(state, before);
}

function toTurn(state: ReplayState, turn: number, none = noSuchTurn(state, turn)): ReplayState {
  const start = state.turnStarts[turn - 1];
  if (start !== undefined) return wentTo(state, start);
  if (state.indexed.done || turn < 1) return { ...state, message: none };
  return { ...state, goal: { turn }, message: `Reading up to turn ${turn} …` };
}

function reducePrompt(state: ReplayState, prompt: NonNullable<ReplayState["prompt"]>, key: string): ReplayState {
  const { kind, text } = prompt;
  switch (key) {
    case "enter":
      return accept({ ...state, prompt: undefined }, prompt);
    case "escape":
      return { ...state, prompt: undefined };
    case "backspace":
      if (text === "") return { ...state, prompt: undefined };
      return { ...state, prompt: { kind, text: Array.from(text).slice(0, -1).join("") } };
    case "ctrl+u":
      return { ...state, prompt: { kind, text: "" } };
  }
  const isCharacter = Array.from(key).length === 1;
  const fits = kind === "turn" ? /^\d$/.test(key) && text.length < MAX_DIGITS : isCharacter && text.length < MAX_PROMPT;
  return fits ? { ...state, prompt: { kind, text: text + key } } : state;
}

function accept(state: ReplayState, { kind, text }: NonNullable<ReplayState["prompt"]>): ReplayState {
  const still = { ...state, goal: undefined, search: undefined, message: "" };
  if (kind === "turn") return text === "" ? state : toTurn(still, Number(text));
  const needle = text === "" ? state.needle : text;
  if (needle === "") return state;
  return { ...still, needle, search: { text: needle, from: state.at } };
}
