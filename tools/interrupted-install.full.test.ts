/**
 * Real installs of a copy of this project, interrupted at random moments: the next start works. OXBOW_TEST_THOROUGH=1 interrupts 50; one
 * that was over before its moment does not count.
 * npm's cache makes each of them quick.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { isThorough, times } from "../test/support/thorough.js";
import { verifies } from "../test/verifies.js";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const COUNT = times(3, 50);
const SIGNALS = ["SIGINT", "SIGTERM", "SIGKILL"] as const;
const NOT_COPIED = ["node_modules", "dist", ".git"];
/** It only ends a hang. */
const PATIENCE_MS = COUNT * 120_000;

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-interrupted-")));
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

function copyProject(name: string): string {
  const root = join(folder, name);
  cpSync(ROOT, root, { recursive: true, filter: (path) => !NOT_COPIED.includes(basename(path)) });
  return root;
}

/** Runs `npm start -- "say hello"` in a process group of its own, as a terminal does. */
function start(root: string) {
  const home = join(root, "..", "home");
  mkdirSync(home, { recursive: true });
  // Without what an npm above leaves: it would name another package.
  const { PATH, HOME } = process.env;
  const child = spawn("npm", ["start", "--silent", "--", "say hello"], {
    cwd: root,
    env: { PATH, HOME, OXBOW_HOME: home, OLLAMA_HOST: "http://127.0.0.1:9" },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (piece: string) => {
      said[name] += piece;
    });
  const ended = once(child, "exit").then(([code, signal]) => ({ code, signal, ...said }));
  return { ended, signal: (name: NodeJS.Signals) => process.kill(-(child.pid ?? 0), name) };
}

describe("an install that is interrupted", () => {
  verifies(
    ["P11"],
    `is finished by the next start (${COUNT} times)`,
    async ({ skip }) => {
      const begun = performance.now();
      const whole = await start(copyProject("whole")).ended;
      skip(/could not reach its registry/.test(whole.stderr), "needs npm's registry, or a cache that has the packages");
      expect(whole, whole.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/\w/) });
      let wholeMs = performance.now() - begun;
      const moments: string[] = [];
      for (let attempt = 0; moments.length < COUNT; attempt++) {
        const root = copyProject(`attempt-${attempt}`);
        const round = moments.length;
        const name = SIGNALS[round % SIGNALS.length] ?? "SIGINT";
        const startedAt = performance.now();
        const interrupted = start(root);
        // Moments of the whole set-up, one in each of COUNT equal parts.
        const moment = ((round + Math.random()) / COUNT) * wholeMs;
        const isOver = await Promise.race([interrupted.ended, delay(moment, undefined, { ref: false })]);
        if (isOver !== undefined) {
          wholeMs = performance.now() - startedAt;
          rmSync(root, { recursive: true, force: true, maxRetries: 5 });
          continue;
        }
        interrupted.signal(name);
        await interrupted.ended;
        moments.push(`${name} after ${moment.toFixed(0)} of ${wholeMs.toFixed(0)} ms`);
        const next = await start(root).ended;
        expect(next, moments.at(-1)).toMatchObject({ code: 0, stdout: whole.stdout });
        expect(next.stderr, moments.at(-1)).not.toMatch(/^\s+at /m);
        rmSync(root, { recursive: true, force: true, maxRetries: 5 });
      }
      if (isThorough) process.stderr.write(`${moments.join("\n")}\n`);
    },
    PATIENCE_MS,
  );
});
