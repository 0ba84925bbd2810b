/** Asks for the result of a call that was running when its session stopped. */

import { paint } from "../../base/terminal-style.js";
import { safeText } from "../../base/terminal-text.js";
import type { OrphanVerdict } from "../../protocol/commands.js";
import type { Failure } from "../../protocol/errors.js";
import type { Terminal } from "./terminal.js";

const ANSWERS: Readonly<Record<string, OrphanVerdict>> = {
  f: "failed",
  failed: "failed",
  s: "succeeded",
  succeeded: "succeeded",
  a: "abort",
  abort: "abort",
};

/** Closed input means abort: nothing else is assumed. */
export async function askAboutOrphans(
  terminal: Terminal,
  { message }: Failure,
): Promise<{ readonly verdict: OrphanVerdict; readonly note?: string }> {
  const ask = async (question: string) => (await terminal.askLine?.(question))?.trim();
  // The question follows; the flags that answer it are for runs without a terminal.
  const [what = message] = message.split(" Check what happened, then resume with ");
  terminal.err.write(
    `\n${paint(terminal, "yellow", "Unfinished:")} ${safeText(what)} Look at what it did, then answer.\n`,
  );
  for (;;) {
    const line = await ask("[f] it failed  [s] it succeeded  [a] end the session: ");
    if (line === undefined) return { verdict: "abort" };
    const verdict = ANSWERS[line.toLowerCase()];
    if (verdict === undefined) {
      terminal.err.write("Please answer f, s or a.\n");
      continue;
    }
    if (verdict === "abort") return { verdict };
    const note = await ask("Note for the model (Enter for none): ");
    return { verdict, ...(note ? { note } : {}) };
  }
}
