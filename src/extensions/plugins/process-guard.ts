/**
 * Keeps plugins from ending the program without a word, or from holding it up for good.
 *
 * 1. `process.exit`, `process.abort` and `process.reallyExit` throw. The guard of the call then handles it as any fault of the plugin. Oxbow
 *    itself ends through `endProgram`.
 * 2. An error that a plugin leaves to the process, of a timer or of a promise that it does not await, switches the plugin off.
 * 3. Code of a plugin that never returns ends the program, with the plugin's name: no other code can run any more, not even for a signal.
 * 4. A promise of a plugin that nothing settles any more would let Node end the program as if it had succeeded: then the turn is cancelled.
 */
import { existsSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { safeLine } from "../../base/terminal-text.js";
import { endProgram } from "../../system/end-program.js";
import { MOST_UNANSWERED, watchStalls } from "../../system/stall-watch.js";
import type { LoadedPlugin } from "./plugins.js";

/** The code of a plugin, from before it is loaded. */
export interface PluginCode {
  readonly name: string;
  /** As in stack traces. */
  readonly path: string;
}

class PluginExit extends Error {}

const ENDS = ["exit", "abort", "reallyExit"] as const;

/** Holds what Node itself ends with, within the `exit` that Oxbow has kept. */
const { reallyExit } = process as unknown as { reallyExit(code?: number): never };
const isExiting = () => (process as unknown as { readonly _exiting?: boolean })._exiting === true;

export class ProcessGuard {
  readonly #codes: PluginCode[] = [];
  readonly #report: (message: string) => void;
  #isStuck = false;

  constructor(report: (message: string) => void) {
    this.#report = report;
    for (const name of ENDS) {
      Object.defineProperty(process, name, {
        value: (code?: number) => {
          if (name === "reallyExit" && isExiting()) reallyExit.call(process, code);
          throw new PluginExit(`it called process.${name}, which a plugin may not do`);
        },
      });
    }
    const own = packageFolder();
    watchStalls((stack) => {
      const culprit = occupant(stack, { codes: this.#codes, own });
      if (culprit === undefined) return undefined;
      const sentence = `${culprit} held the program up for ${MOST_UNANSWERED} seconds, so Oxbow ends. The sessions can be resumed.`;
      // Listeners restore the terminal and end what runs.
      process.emit("exit", 1);
      writeSync(2, `oxbow: ${safeLine(sentence)}\n`);
      return "end";
    });
    process.on("beforeExit", () => this.#endTheWait());
  }

  /** Oxbow ends by itself only through `endProgram`. */
  #endTheWait(): void {
    if (this.#codes.length === 0) return;
    const isFirst = !this.#isStuck;
    this.#isStuck = true;
    if (isFirst) {
      const names = this.#codes.map(({ name }) => name).join(", ");
      const sentence = `Code of a plugin (one of ${names}) never answers: nothing is left that it could wait for. Oxbow stops the turn.`;
      writeSync(2, `oxbow: ${safeLine(sentence)}\n`);
    }
    // What a signal does: it cancels the turn and saves the session.
    if (!isFirst || !process.emit("SIGTERM")) endProgram(1);
  }

  /** Call it before the code is loaded. */
  add(code: PluginCode): void {
    this.#codes.push(code);
  }

  catchStrayErrors(plugins: readonly LoadedPlugin[]): void {
    const known = process.listeners("uncaughtException");
    if (plugins.length === 0 || known.length === 0) return;
    process.removeAllListeners("uncaughtException");
    process.on("uncaughtException", (error, kind) => {
      const stack = error instanceof Error ? String(error.stack) : "";
      const origin = plugins.find(({ path }) => stack.includes(path));
      if (origin !== undefined) origin.guard.switchOff("code outside a call", error);
      else if (error instanceof PluginExit) this.#report(`Code of a plugin failed: ${error.message}.`);
      else for (const listener of known) listener(error, kind);
    });
  }
}

/** The folder with all of Oxbow's code: that of its package.json. */
function packageFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) return folder;
  }
  return here;
}

/** Tells whose code occupies the thread, as the subject of a sentence; undefined if it is Oxbow's own. */
export function occupant(
  stack: string,
  { codes, own }: { readonly codes: readonly PluginCode[]; readonly own: string },
): string | undefined {
  const frames = stack.split("\n").filter((line) => line.includes("/") && !line.includes("node:"));
  for (const frame of frames) {
    const code = codes.find(({ path }) => frame.includes(path) || frame.includes(pathToFileURL(path).href));
    if (code !== undefined) return `The plugin ${code.name} (${/[^/]+:\d+:\d+/.exec(frame)?.[0] ?? code.path})`;
  }
  // Promises that follow one another may leave no frame. What a plugin imports is not listed.
  const isOwn = frames[0]?.includes(own) || frames[0]?.includes(pathToFileURL(own).href);
  return isOwn ? undefined : `Code of a plugin (one of ${codes.map(({ name }) => name).join(", ")})`;
}
