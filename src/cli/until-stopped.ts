/** Waits for the end of a connection, and returns how it ended, or for a signal. A second signal ends the program at once. */

import { endProgram } from "../system/end-program.js";
import { EXIT } from "./exit-codes.js";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function untilStopped<T>(ended: Promise<T>): Promise<T | undefined> {
  let stop: () => void = () => {};
  const stopped = new Promise<undefined>((resolve) => {
    let asked = false;
    stop = () => {
      if (asked) endProgram(EXIT.cancelled);
      asked = true;
      resolve(undefined);
    };
  });
  for (const signal of SIGNALS) process.on(signal, stop);
  return Promise.race([ended, stopped]);
}
