/** The last lines that a server wrote beside its messages, and what happened to it. */
import { safeLine, safeText } from "../../base/terminal-text.js";

const MOST_CHARACTERS = 64 * 1024;
const MOST_WORDS = 300;

export class ServerLog {
  #text = "";
  /** The last line that the server itself wrote since it started, for people: it is text from outside. */
  lastWords: string | undefined;

  /** Adds what the server wrote. */
  said(text: string): void {
    this.add(text);
    this.lastWords = safeLine(text.trimEnd().split("\n").at(-1) ?? "").slice(0, MOST_WORDS) || this.lastWords;
  }

  add(line: string): void {
    const safe = safeText(line.slice(-MOST_CHARACTERS)).trimEnd();
    if (safe !== "") this.#text = `${this.#text}${safe}\n`.slice(-MOST_CHARACTERS);
  }

  get text(): string {
    return this.#text;
  }
}
