/** Lets the user choose by letter or number. */
import type { Choice } from "../sdk/permission-choices.js";
import type { Terminal } from "./terminal.js";

export interface Picked<A> {
  readonly answer: A;
  /** The words behind the letter. */
  readonly words: string;
}

export interface PickOptions<A> {
  readonly signal: AbortSignal;
  /** Other words for a letter. */
  readonly long: Readonly<Record<string, string>>;
  /** Tells whether words may follow the letter. */
  readonly takesWords: (answer: A) => boolean;
  /** Takes a line that names no choice. */
  readonly otherwise?: (line: string) => Picked<A> | undefined;
}

/** Undefined if the line is empty or the input ends. */
export async function pick<A>(
  { askLine, err }: Terminal,
  choices: readonly Choice<A>[],
  { signal, long, takesWords, otherwise }: PickOptions<A>,
): Promise<Picked<A> | undefined> {
  const keys = choices.map(({ key }) => key);
  for (;;) {
    for (const { key, label } of choices) err.write(`  [${key}] ${label}\n`);
    const line = (await askLine?.("Answer: ", signal))?.trim();
    if (line === undefined || line === "") return undefined;
    const { key = "", words = "" } = /^(?<key>\S*)\s*(?<words>.*)$/.exec(line)?.groups ?? {};
    const typed = long[key.toLowerCase()] ?? key.toLowerCase();
    const chosen = choices.find((choice, index) => choice.key === typed || String(index + 1) === typed);
    if (chosen !== undefined && (words === "" || takesWords(chosen.answer))) return { answer: chosen.answer, words };
    const other = otherwise?.(line);
    if (other !== undefined) return other;
    err.write(`Please answer ${keys.slice(0, -1).join(", ")} or ${keys.at(-1)}.\n`);
  }
}
