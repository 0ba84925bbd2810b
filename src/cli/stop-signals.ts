/**
 * Signals that end the program, and a closed terminal.
 *
 * 1. The first one cancels the turn, so that the log and the workspace stay consistent. A second one does not wait.
 * 2. The program ends within two seconds of the first one. The log then lacks what it would lack after a
 *    kill, and the watchdog ends commands.
 */

import { endProgram } from "../system/end-program.js";
import { EXIT } from "./exit-codes.js";
import { outputGuard } from "./output-guard.js";

export interface Stop {
  /** A signal asks the program to end, or its output cannot be written. */
  readonly asked: boolean;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const DEADLINE_MS = 1750;

/** `interrupts`: other handlers of Ctrl-C. */
export function stopOnSignals(
  cancel: () => void,
  { interrupts = "here" }: { readonly interrupts?: "here" | "elsewhere" } = {},
): Stop {
  const state = { asked: false };
  const stop = () => {
    if (state.asked) return;
    state.asked = true;
    setTimeout(() => endProgram(outputGuard().exitCode(EXIT.cancelled)), DEADLINE_MS).unref();
    cancel();
  };
  for (const signal of SIGNALS) {
    if (signal === "SIGINT" && interrupts === "elsewhere") continue;
    process.on(signal, () => {
      if (state.asked) endProgram(EXIT.cancelled);
      stop();
    });
  }
  outputGuard().onProblem(stop);
  // A closed terminal also ends its reader, and SIGHUP may be ignored (nohup).
  if (process.stderr.isTTY && process.stdin.isTTY) {
    process.stdin.on("error", stop);
    process.stdin.on("end", stop);
  }
  return state;
}
