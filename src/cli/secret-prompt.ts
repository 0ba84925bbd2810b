/**
 * Asks for a secret on the terminal without showing it.
 *
 * 1. Nothing that is typed appears, not even its length. The terminal is as it was before when the question is over, however it ends.
 * 2. Input from before the question, and the rest of a paste of several lines, neither answers it nor stays for the
 *    shell to run: a paste of several lines is returned whole, for the caller to refuse.
 */
import type { ReadStream } from "node:tty";
import type { Clock } from "../base/clock.js";

/** The rest of a paste arrives at once; a user types slower. */
const PASTE_MS = 40;

export interface SecretPrompt {
  readonly question: string;
  readonly clock: Clock;
}

/** Undefined if the user cancelled: Esc, Ctrl-C, or Ctrl-D on an empty line. */
export async function askSecret({ question, clock }: SecretPrompt): Promise<string | undefined> {
  const input = process.stdin as ReadStream;
  process.stderr.write(question);
  input.setRawMode(true);
  let typed = "";
  try {
    return await new Promise<string | undefined>((resolve) => {
      let cancel = () => {};
      const onData = (piece: string) => {
        const after = typeSecret(typed, piece);
        if (after === undefined) return finish(undefined);
        typed = after;
        cancel();
        if (/\n|\u0004$/.test(typed)) cancel = clock.after(PASTE_MS, () => finish(typed.replace(/[\n\u0004]+$/, "")));
      };
      const finish = (value: string | undefined) => {
        cancel();
        input.off("data", onData);
        resolve(value);
      };
      input.setEncoding("utf8").on("data", onData).resume();
    });
  } finally {
    input.setRawMode(false);
    input.pause();
    process.stderr.write("\n");
  }
}

/** The secret after what the terminal sent; undefined if that cancels. */
export function typeSecret(before: string, piece: string): string | undefined {
  if (piece === "\u001b") return undefined;
  let typed = before;
  for (const key of withoutPasteMarks(piece)) {
    if (key === "\u0003" || (key === "\u0004" && typed === "")) return undefined;
    if (key === "\u0015") typed = "";
    else if (key === "\u007f" || key === "\b") typed = Array.from(typed).slice(0, -1).join("");
    else typed += key === "\r" ? "\n" : key;
  }
  return typed;
}

/** Terminals put markers around pasted text, and send arrow keys as sequences. */
function withoutPasteMarks(piece: string): string[] {
  return Array.from(piece.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b./g, ""));
}
