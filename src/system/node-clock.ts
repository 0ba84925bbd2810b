/** The machine's clock without `performance`, whose first use loads another module before the first request. */
import type { Clock } from "../base/clock.js";

export const nodeClock: Clock = {
  now() {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1000 + nanoseconds / 1e6;
  },
  wall: () => Date.now(),
  after(ms, action, hold) {
    const timer = setTimeout(action, ms);
    if (hold === "unheld") timer.unref();
    return () => clearTimeout(timer);
  },
};
