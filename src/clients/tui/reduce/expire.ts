/** Parts of the state that end by themselves: hints, the second Ctrl-C or Esc, the codes of tokens. */
import { isBusy, type State, without } from "../state.js";
import { TICK_MS } from "../views/working-line.js";

const HINT_MS = 4000;

/** With a sentence below the input for a while; an empty one removes it. */
export function hinted(state: State, text: string, now: number): State {
  return text === "" ? without(state, "hint") : { ...state, hint: { text, until: now + HINT_MS } };
}

/** Removes what is over. */
export function expire(state: State, now: number): State {
  let next = state;
  if (next.hint !== undefined && now >= next.hint.until) next = without(next, "hint");
  if (next.leaveUntil !== undefined && now >= next.leaveUntil) next = without(next, "leaveUntil");
  if (next.escapeUntil !== undefined && now >= next.escapeUntil) next = without(next, "escapeUntil");
  if (next.tokens.some(({ until }) => now >= until)) {
    next = { ...next, tokens: next.tokens.filter(({ until }) => now < until) };
  }
  return next;
}

/** How long until the screen changes by itself: a running time, or the end of a hint or a code. Undefined if it does not. */
export function nextChange(
  state: State,
  { now, still }: { readonly now: number; readonly still: boolean },
): number | undefined {
  if (isBusy(state) && !still) return TICK_MS;
  const { hint, tokens } = state;
  const ends = [...tokens, ...(hint === undefined ? [] : [hint])].map(({ until }) => until);
  return ends.length === 0 ? undefined : Math.min(...ends) - now;
}

/** A key between two presses of Ctrl-C or Esc makes the second one a first one: the user went on working. */
export function afterKey(state: State, key: string | undefined): State {
  const { leaveUntil, escapeUntil } = state;
  const isSecond = key === "ctrl+c" ? leaveUntil !== undefined : key === "escape" && escapeUntil !== undefined;
  if (isSecond || (leaveUntil ?? escapeUntil) === undefined) return state;
  return without(state, "leaveUntil", "escapeUntil", "hint");
}
