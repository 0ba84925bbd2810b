import type { TerminalIo } from "./terminal-io.js";

/** An orphaned process group does not stop. */
const STOP_WAIT_MS = 50;

/** Stops the process until `fg`, then calls `onBack`. If it cannot stop, it calls `onBack` soon. */
export function stopProcess(io: Pick<TerminalIo, "clock" | "onSignal" | "stop">, onBack: () => void): void {
  const back = () => {
    cancel();
    unsubscribe();
    onBack();
  };
  const unsubscribe = io.onSignal("SIGCONT", back);
  const cancel = io.clock.after(STOP_WAIT_MS, back);
  io.stop();
}
