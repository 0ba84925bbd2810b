/**
 * The keys of the conversation. All other keys go to the editor.
 *
 * 1. Ctrl-C cancels what runs, then clears the draft; pressed again within two seconds it leaves.
 * 2. Esc interrupts what runs and never leaves. Pressed twice it clears the draft, or goes back to an earlier prompt.
 */
import type { SessionMode } from "../../../protocol/events.js";
import { type Effect, isBusy, type Reduced, type State, without } from "../state.js";

export interface KeyPlace {
  readonly now: number;
  readonly draftIsEmpty: boolean;
}

const LEAVE_MS = 2000;
const ESCAPE_MS = 1000;
const MODES: readonly SessionMode[] = ["auto", "review", "plan"];

/** Undefined: the key is for the editor. */
export function reduceKey(state: State, key: string | undefined, place: KeyPlace): Reduced | undefined {
  switch (key) {
    case "ctrl+c":
      return interruptOrLeave(state, place);
    case "escape":
      return isBusy(state) ? { state: cancelling(state), effects: CANCEL } : escapeTwice(state, place);
    case "ctrl+d":
      return place.draftIsEmpty ? { state, effects: [{ do: "exit" }] } : undefined;
    case "shift+tab":
      return nextMode(state);
    case "up":
      return place.draftIsEmpty ? takeBack(state) : undefined;
    case "alt+up":
      return takeBack(state);
    case "ctrl+z":
      return { state, effects: [{ do: "suspend" }] };
    case "ctrl+o":
    case "ctrl+t":
      return { state, effects: [{ do: "open", dialog: "transcript" }] };
    case "ctrl+l":
      return { state, effects: [{ do: "clear screen" }] };
    case "alt+p":
    case "f2":
      return { state, effects: [{ do: "open", dialog: "models" }] };
    case "alt+s":
      return { state, effects: [{ do: "open", dialog: "sidebar" }] };
    case "alt+r":
      return { state, effects: [{ do: "open", dialog: "last session" }] };
    case "alt+a":
      return { state, effects: [{ do: "open", dialog: "approvals" }] };
    case "alt+w":
      return { state, effects: [{ do: "open", dialog: "work" }] };
    case "alt+t":
      return { state: { ...state, todosHidden: !state.todosHidden }, effects: [] };
    case "f1":
      return { state, effects: [{ do: "open", dialog: "help" }] };
    case "?":
      return place.draftIsEmpty ? { state, effects: [{ do: "open", dialog: "help" }] } : undefined;
    default:
      return undefined;
  }
}

const CANCEL: readonly Effect[] = [{ do: "send", kind: "CancelTurn", payload: {} }];

function takeBack(state: State): Reduced | undefined {
  if (!state.queue.some(({ own }) => own)) return undefined;
  return { state, effects: [{ do: "send", kind: "TakeBackInput", payload: {} }] };
}

function escapeTwice(state: State, { now, draftIsEmpty }: KeyPlace): Reduced {
  if (state.escapeUntil !== undefined && now < state.escapeUntil) {
    const effect: Effect = draftIsEmpty ? { do: "open", dialog: "rewind" } : { do: "clear draft" };
    return { state: without(state, "escapeUntil", "hint"), effects: [effect] };
  }
  const until = now + ESCAPE_MS;
  const text = `Press Esc again to ${draftIsEmpty ? "go back to an earlier prompt" : "clear the draft"}.`;
  return { state: { ...state, escapeUntil: until, hint: { text, until } }, effects: [] };
}

function cancelling(state: State): State {
  const { turn } = state;
  return turn === undefined ? state : { ...state, turn: { ...turn, cancelling: true } };
}

function interruptOrLeave(state: State, { now, draftIsEmpty }: KeyPlace): Reduced {
  if (state.leaveUntil !== undefined && now < state.leaveUntil) return { state, effects: [{ do: "exit" }] };
  const until = now + LEAVE_MS;
  const hinted: State = {
    ...cancelling(state),
    leaveUntil: until,
    hint: { text: "Press Ctrl-C again within 2 s to leave.", until },
  };
  if (isBusy(state)) return { state: hinted, effects: CANCEL };
  return { state: hinted, effects: draftIsEmpty ? [] : [{ do: "clear draft" }] };
}

/**
 * Shows the mode at once; if the engine refuses, it is reset. An approved plan goes on in the mode before it: that is `auto` for a
 * person who only passes `review` on the way to `plan`.
 */
function nextMode(state: State): Reduced {
  const { place, passesReview = false } = state;
  if (place === undefined) return { state, effects: [{ do: "refresh" }] };
  const mode = MODES[(MODES.indexOf(place.mode) + 1) % MODES.length] ?? "auto";
  const modes = mode === "plan" && passesReview ? (["auto", "plan"] as const) : [mode];
  return {
    state: { ...state, place: { ...place, mode }, passesReview: place.mode === "auto" },
    effects: modes.map((each) => ({ do: "send", kind: "SetMode", payload: { mode: each } })),
  };
}
