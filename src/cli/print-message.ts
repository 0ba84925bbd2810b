import { safeText } from "../base/terminal-text.js";

/** A message on standard error. It may quote files, arguments or servers, so it is made harmless for the terminal. */
export function printMessage(message: string): void {
  process.stderr.write(`oxbow: ${safeText(message)}\n`);
}
