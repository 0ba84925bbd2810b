/** Waits for the end of a connection or for a signal. A second signal ends the program at once. */
import { EXIT } from "./exit-codes.js";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function untilStopped(ended: Promise<void>): Promise<void> {
  let stop: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    let asked = false;
    stop = () => {
      if (asked) process.exit(EXIT.cancelled);
      asked = true;
      resolve();
    };
  });
  for (const signal of SIGNALS) process.on(signal, stop);
  await Promise.race([ended, stopped]);
}
