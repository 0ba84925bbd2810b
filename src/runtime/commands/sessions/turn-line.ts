import { shorten } from "../../../base/cap-text.js";
import { safeLine } from "../../../base/terminal-text.js";
import type { TurnSummary } from "../../../sessions/branch.js";

/** A turn on two lines: the input and the answer. */
export function turnLine({ number, input, text, toolCalls, variant }: TurnSummary): string {
  const calls = toolCalls === 0 ? "" : ` [${toolCalls} ${toolCalls === 1 ? "call" : "calls"}]`;
  const way = variant === undefined ? "" : ` [variant ${safeLine(variant)}]`;
  return `  ${number}. ${short(input)}${calls}${way}\n     → ${short(text)}`;
}

function short(text: string): string {
  const shown = safeLine(text.trim());
  return shorten(shown, 100);
}
