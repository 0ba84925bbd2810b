/** An attacker that changes the file system in a loop, in a separate thread, while a tool works. */
import { Worker } from "node:worker_threads";

export type AttackStep =
  | readonly ["rename" | "symlink", string, string]
  | readonly ["unlink" | "mkdir" | "remove", string]
  | readonly ["write", string, string];

export interface Attack {
  /** Says how often all the steps were gone through. */
  readonly rounds: number;
  stop(): Promise<void>;
}

const STOP = 0;
const ROUNDS = 1;
const PAUSE = 2;

const PROGRAM = `
const { workerData: { steps, memory } } = require("node:worker_threads");
const fs = require("node:fs");
const state = new Int32Array(memory);
const actions = {
  rename: fs.renameSync, symlink: fs.symlinkSync, unlink: fs.unlinkSync, mkdir: fs.mkdirSync, write: fs.writeFileSync,
  remove: (path) => fs.rmSync(path, { recursive: true, force: true }),
};
while (Atomics.load(state, ${STOP}) === 0) {
  for (const [action, ...paths] of steps) {
    // The other side may have been quicker; the next round tries again.
    try { actions[action](...paths); } catch {}
    // Moments of different lengths, so that each place in the tool's work is hit sooner or later.
    Atomics.wait(state, ${PAUSE}, 0, (Atomics.load(state, ${ROUNDS}) % 7) * 0.05);
  }
  Atomics.add(state, ${ROUNDS}, 1);
}`;

export function startAttack(steps: readonly AttackStep[]): Attack {
  const memory = new SharedArrayBuffer(12);
  const state = new Int32Array(memory);
  const worker = new Worker(PROGRAM, { eval: true, workerData: { steps, memory } });
  const ended = new Promise<void>((resolve, reject) => {
    worker.on("error", reject);
    worker.on("exit", () => resolve());
  });
  return {
    get rounds() {
      return Atomics.load(state, ROUNDS);
    },
    stop() {
      Atomics.store(state, STOP, 1);
      return ended;
    },
  };
}
