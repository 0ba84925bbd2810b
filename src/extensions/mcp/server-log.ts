/** The last lines that a server wrote beside its messages, and what happened to it. */
import { safeText } from "../../base/terminal-text.js";

const MOST_CHARACTERS = 64 * 1024;

export class ServerLog {
  #text = "";

  add(line: string): void {
    const safe = safeText(line.slice(-MOST_CHARACTERS)).trimEnd();
    if (safe !== "") this.#text = `${this.#text}${safe}\n`.slice(-MOST_CHARACTERS);
  }

  get text(): string {
    return this.#text;
  }
}
