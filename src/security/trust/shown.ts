/** Names and texts of other people on the screen: nothing hidden, nothing that acts on the terminal. */
import { safeLine, safeText } from "../../base/terminal-text.js";
import { revealHidden } from "../untrusted/reveal-hidden.js";

/** For a place with one line. */
export function shown(name: string): string {
  return safeLine(revealHidden(name));
}

export function shownText(text: string): string {
  return safeText(revealHidden(text));
}

export type Style = "bold" | "dim" | "red" | "green" | "yellow";

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
};

export interface Look {
  /** Columns of the screen. */
  readonly width: number;
  readonly color: boolean;
}

export function paint({ color }: Pick<Look, "color">, style: Style, text: string): string {
  if (!color) return text;
  const [on, off] = CODES[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
