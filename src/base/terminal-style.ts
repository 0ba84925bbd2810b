/** Styles of text on a terminal. */
export type Style = "dim" | "bold" | "red" | "green" | "yellow";

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  dim: [2, 22],
  bold: [1, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
};

export function paint(terminal: { readonly color: boolean }, style: Style, text: string): string {
  if (!terminal.color) return text;
  const [on, off] = CODES[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}
