/**
 * Signals that end the program, and other ways to lose the person who started it.
 *
 * 1. The first one cancels what runs, so that the log and the workspace are left in order. A second one does not wait.
 * 2. The program ends within two seconds of the first one, whatever still runs: what a log lacks then is what it would lack after a
 *    kill, and the watchdog ends commands.
 */
import { EXIT } from "./exit-codes.js";
import { outputGuard } from "./output-guard.js";

export interface Stop {
  /** A signal asks the program to end, or its output cannot be written. */
  readonly asked: boolean;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const DEADLINE_MS = 1750;

/** `interrupts`: who else takes Ctrl-C. */
export function stopOnSignals(
  cancel: () => void,
  { interrupts = "here" }: { readonly interrupts?: "here" | "elsewhere" } = {},
): Stop {
  const state = { asked: false };
  const stop = () => {
    if (state.asked) return;
    state.asked = true;
    setTimeout(() => process.exit(outputGuard().exitCode(EXIT.cancelled)), DEADLINE_MS).unref();
    cancel();
  };
  for (const signal of SIGNALS) {
    if (signal === "SIGINT" && interrupts === "elsewhere") continue;
    process.on(signal, () => {
      if (state.asked) process.exit(EXIT.cancelled);
      stop();
    });
  }
  outputGuard().onProblem(stop);
  // A terminal whose other end is closed says so to its reader too, and SIGHUP may be ignored (nohup).
  if (process.stdin.isTTY && process.stderr.isTTY) {
    process.stdin.on("error", stop);
    process.stdin.on("end", stop);
  }
  return state;
}
