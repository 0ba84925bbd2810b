import { shorten } from "../../../base/cap-text.js";
import { safeLine } from "../../../base/terminal-text.js";
import type { TurnSummary } from "../../../sessions/branch.js";

/** A turn on two lines: the input and the answer. */
export function turnLine({ number, input, text, toolCalls }: TurnSummary): string {
  const calls = toolCalls === 0 ? "" : ` [${toolCalls} ${toolCalls === 1 ? "call" : "calls"}]`;
  return `  ${number}. ${short(input)}${calls}\n     → ${short(text)}`;
}

function short(text: string): string {
  const shown = safeLine(text.trim());
  return shorten(shown, 100);
}
