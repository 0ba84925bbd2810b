/**
 * Notices that the main thread is occupied: no timer, no signal and no client gets its turn then, so nothing on that thread can notice.
 *
 * 1. A worker thread asks once a second. It counts questions without an answer, not time: a machine that sleeps asks nothing.
 * 2. From `MOST_UNANSWERED` on it interrupts the main thread as a debugger does. `judge` runs there, on top of the code that occupies it,
 *    and sees the stack of that code.
 * 3. If the judge says so, the worker kills the process: nothing else ends code that never returns.
 */
import { url as debuggerUrl } from "node:inspector";
import { Worker } from "node:worker_threads";

export const MOST_UNANSWERED = 5;

const ASK_MS = 1000;
const NAME = "oxbow.stalled";

const WATCHER = `
const { parentPort, workerData } = require("node:worker_threads");
const { Session } = require("node:inspector");
const { unanswered, most, judge } = workerData;
setInterval(() => {
  parentPort.postMessage(0);
  if (Atomics.add(unanswered, 0, 1) < most) return;
  const session = new Session();
  session.connectToMainThread();
  session.post("Runtime.evaluate", { expression: judge }, (error, answer) => {
    session.disconnect();
    if (answer?.result?.value === "end") process.kill(process.pid, "SIGKILL");
  });
}, ${ASK_MS});
`;

/** `judge` gets the stack of the code that occupies the thread. It returns "end" after it has said its last words. */
export function watchStalls(judge: (stack: string) => "end" | undefined): void {
  const unanswered = new Int32Array(new SharedArrayBuffer(4));
  const stalled = () => {
    // A person looks at the code at a breakpoint.
    if (debuggerUrl() !== undefined) return undefined;
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = Number.POSITIVE_INFINITY;
    const at = { stack: "" };
    Error.captureStackTrace(at, stalled);
    Error.stackTraceLimit = stackTraceLimit;
    return judge(at.stack);
  };
  Object.defineProperty(globalThis, Symbol.for(NAME), { value: stalled, configurable: true });
  const workerData = { unanswered, most: MOST_UNANSWERED, judge: `globalThis[Symbol.for("${NAME}")]()` };
  const worker = new Worker(WATCHER, { eval: true, workerData, env: {}, execArgv: [], name: "stall watch" });
  worker.on("message", () => Atomics.store(unanswered, 0, 0));
  // Without threads or a debugger interface the program works as before.
  worker.on("error", () => {});
  worker.unref();
}
