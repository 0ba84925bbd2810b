import type { TerminalIo } from "./terminal-io.js";

/** A group of processes without a shell above it does not stop. */
const STOP_WAIT_MS = 50;

/** Stops the process until `fg`, then calls `onBack`. Where it cannot stop, it calls `onBack` soon. */
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
