import { safeText } from "../base/terminal-text.js";
import { inWords } from "../system/errno-words.js";

/**
 * A message on standard error. It may quote files, arguments or servers, so it is made harmless for the terminal, and errors of the
 * operating system, so it gives them in words.
 */
export function printMessage(message: string): void {
  process.stderr.write(`oxbow: ${safeText(inWords(message))}\n`);
}
