/**
 * Runs a command in its own process group and controls everything it starts.
 *
 * 1. `ended` settles only when the whole tree is dead: after a cancel, a timeout, and after an ordinary end that left
 *    processes behind. It never hangs: not on a background child that holds the output, not on an interactive prompt (there is
 *    no terminal, and stdin is empty by default), not on a process that ignores SIGTERM.
 * 2. All output written before the end is delivered before `ended` settles, in the order it was written, and none after.
 * 3. When this process ends, however it ends, the trees end with it.
 */
import { onAbort } from "../base/abort-tree.js";
import type { Clock } from "../base/clock.js";
import { nextLimitMark, withLimitMark } from "./limit-mark.js";
import { nodeClock } from "./node-clock.js";
import { type Exit, type Launch, type Launched, type ProcessRequest, startOnPipes } from "./process-launch.js";
import { nextMarker, ProcessTree, withMarker } from "./process-tree.js";
import { ProcessWatchdog } from "./process-watchdog.js";

export type EndReason = "exit" | "timeout" | "cancelled";

export interface ProcessEnd {
  readonly reason: EndReason;
  readonly exitCode: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** Processes that were still running when the command ended; they were stopped. */
  readonly leftovers: number;
  /** Processes that could not be ended: stuck in the kernel, or another user's. */
  readonly survivors: number;
}

export interface RunningProcess {
  readonly pid: number;
  readonly ended: Promise<ProcessEnd>;
  /** Ends the tree; `ended` then says "cancelled". */
  stop(): Promise<ProcessEnd>;
}

const GRACE_MS = 700;
const DRAIN_MS = 250;
const EXIT_LIMIT_MS = 500;
/** Shorter commands do not start a watchdog. */
const WATCH_AFTER_MS = 200;

const trees = new Set<ProcessTree>();
const watchdog = new ProcessWatchdog();

/** Kills every tree that is still alive, at once and without waiting. It runs when the process exits. */
export function killAllGroups(): void {
  for (const tree of trees) tree.killNow();
  trees.clear();
  watchdog.stop();
}

let exitHandled = false;

export async function startProcess(request: ProcessRequest, launch: Launch = startOnPipes): Promise<RunningProcess> {
  if (!exitHandled) {
    exitHandled = true;
    process.once("exit", killAllGroups);
  }
  const marker = nextMarker();
  const limitMark = request.leavesNothing === true && request.endsWithAll !== true ? nextLimitMark() : undefined;
  const argv = limitMark === undefined ? request.argv : withLimitMark(request, limitMark);
  const launched = await launch({ ...request, argv, env: withMarker(request.env, marker) });
  const tree = new ProcessTree(launched.pid, {
    marker: launched.marker ?? marker,
    limitMark,
    outputLink: launched.outputLink,
    isWrapper: request.isWrapper === true,
    endsWithAll: request.endsWithAll === true,
  });
  const stopper = new AbortController();
  const ended = supervise(launched, tree, { request, stop: stopper.signal });
  return {
    pid: launched.pid,
    ended,
    stop() {
      stopper.abort();
      return ended;
    },
  };
}

/** Starts the command and waits for its end; throws a SpawnError when it cannot be started. */
export async function runProcess(request: ProcessRequest, launch?: Launch): Promise<ProcessEnd> {
  if (request.signal?.aborted) {
    return { reason: "cancelled", exitCode: undefined, signal: undefined, leftovers: 0, survivors: 0 };
  }
  return (await startProcess(request, launch)).ended;
}

async function supervise(
  launched: Launched,
  tree: ProcessTree,
  { request, stop }: { readonly request: ProcessRequest; readonly stop: AbortSignal },
): Promise<ProcessEnd> {
  const clock = request.clock ?? nodeClock;
  trees.add(tree);
  const watch = setTimeout(() => {
    tree.recordLasting();
    watchdog.watch(tree.pid, tree.limitMark);
  }, WATCH_AFTER_MS).unref();
  let exit: Exit | undefined;
  const exited = launched.exited.then((value) => {
    exit = value;
    tree.recordExit(value);
  });
  const reason = await firstReason(exited, { request, stop, clock });
  let leftovers = 0;
  let survivors = 0;
  const quiet = reason === "exit" && (await quietWithin(launched, tree, { clock, ms: request.drainMs ?? DRAIN_MS }));
  if (!quiet && !tree.isEmpty()) {
    if (reason === "exit") leftovers = tree.members().length;
    survivors = await tree.terminate({ clock, graceMs: graceFor(reason, request) });
    // All processes have ended; the exit event of the first one may still come.
    if (exit === undefined) await Promise.race([exited, pause(clock, EXIT_LIMIT_MS)]);
  }
  if (!quiet) await launched.flush?.();
  launched.drain();
  const endedInside = launched.leftovers?.() ?? 0;
  if (reason === "exit") leftovers += endedInside;
  launched.close();
  clearTimeout(watch);
  watchdog.unwatch(tree.pid);
  trees.delete(tree);
  return { reason, exitCode: exit?.code, signal: exit?.signal, leftovers, survivors };
}

function graceFor(reason: EndReason, { graceMs = GRACE_MS, leftoverGraceMs = graceMs }: ProcessRequest): number {
  return reason === "exit" ? leftoverGraceMs : graceMs;
}

function firstReason(
  exited: Promise<void>,
  { request, stop, clock }: { readonly request: ProcessRequest; readonly stop: AbortSignal; readonly clock: Clock },
): Promise<EndReason> {
  return new Promise((resolve) => {
    const undo = [
      onAbort(stop, () => resolve("cancelled")),
      request.signal === undefined ? () => {} : onAbort(request.signal, () => resolve("cancelled")),
      request.timeoutMs === undefined ? () => {} : clock.after(request.timeoutMs, () => resolve("timeout")),
    ];
    void exited.then(() => {
      for (const take of undo) take();
      resolve("exit");
    });
  });
}

/** Tells whether the tree was empty and its output ended within the time limit. */
async function quietWithin(
  launched: Launched,
  tree: ProcessTree,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
): Promise<boolean> {
  const deadline = clock.now() + ms;
  for (let wait = 1; ; wait = Math.min(wait * 2, 32)) {
    launched.drain();
    if (launched.outputEnded() && tree.isEmpty()) return true;
    if (clock.now() >= deadline) return false;
    await (launched.outputEnded() ? pause(clock, wait) : Promise.race([launched.outputEnd, pause(clock, wait)]));
  }
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}
