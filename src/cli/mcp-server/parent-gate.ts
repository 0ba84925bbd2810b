/**
 * Lets an outer agent use the engine only after the user has allowed the program that started it.
 *
 * 1. The user answers on the terminal of the process, or with `oxbow mcp-server approve` in another one.
 * 2. The first call waits for the answer for a while; later ones are refused at once until there is one. Nothing else is needed after it.
 *    A subscription asks too, and does not wait: agents subscribe when they start, and wait for each answer.
 * 3. A program that the system does not name can never be allowed: it could not be recognised again.
 */
import { basename } from "node:path";
import type { Clock } from "../../base/clock.js";
import { safeLine } from "../../base/terminal-text.js";
import type { Patience } from "../../control/transports/mcp-server/server.js";
import type { AllowedParent, McpParents } from "../../security/trust/mcp-parents.js";
import type { ParentProgram } from "../../system/parent-process.js";

export interface ParentGateOptions {
  readonly parents: McpParents;
  /** Found in the background: to hash a large file takes a while. */
  readonly parent: Promise<ParentProgram | undefined>;
  readonly clock: Clock;
  readonly pid: number;
  /** Asks on the terminal; undefined without an answer. */
  readonly ask: (question: string, signal: AbortSignal) => Promise<string | undefined>;
  /** Tells the user apart from the terminal. */
  readonly notify: (message: string) => void;
}

/** Clients give up after a minute. */
const PATIENCE_MS = 45_000;
const LOOK_MS = 500;

export class ParentGate {
  readonly #options: ParentGateOptions;
  #allowed: AllowedParent | undefined;
  #asking: Promise<void> | undefined;
  #hasWaited = false;

  constructor(options: ParentGateOptions) {
    this.#options = options;
  }

  /** Tells whether the user wants to see its sessions. */
  get attach(): AllowedParent["attach"] {
    return this.#allowed?.attach ?? "always";
  }

  /** Tells why the caller may not use the engine; undefined if it may. */
  async refusal(patience: Patience): Promise<string | undefined> {
    if (this.#allowed !== undefined) return undefined;
    const parent = await this.#options.parent;
    if (parent === undefined) return "the system does not name the program that started Oxbow, so you cannot allow it.";
    if (await this.#look(parent)) return undefined;
    if (patience !== "now" && this.#asking === undefined) {
      this.#asking = this.#askUser(parent);
      this.#asking.catch(() => {});
    }
    if (patience === "wait" && !this.#hasWaited) {
      this.#hasWaited = true;
      await this.#asking;
      if (await this.#look(parent)) return undefined;
    }
    return `the user has not allowed ${nameOf(parent)} to drive Oxbow. Ask the user to run 'oxbow mcp-server approve' in a terminal, then try again.`;
  }

  async #look(parent: ParentProgram): Promise<boolean> {
    this.#allowed ??= await this.#options.parents.find(parent);
    return this.#allowed !== undefined;
  }

  async #askUser(parent: ParentProgram): Promise<void> {
    const { parents, clock, pid, notify } = this.#options;
    const asked_at = new Date(clock.wall()).toISOString();
    await parents.wait({ ...parent, pid, asked_at });
    notify(`${nameOf(parent)} wants to drive Oxbow as an agent. 'oxbow mcp-server approve' in a terminal allows it.`);
    const enough = new AbortController();
    const stopTimer = clock.after(PATIENCE_MS, () => enough.abort());
    try {
      await Promise.race([this.#onTerminal(parent, enough.signal), this.#elsewhere(parent, enough.signal)]);
    } finally {
      stopTimer();
      enough.abort();
    }
  }

  async #onTerminal(parent: ParentProgram, signal: AbortSignal): Promise<void> {
    const { ask, parents, clock } = this.#options;
    const answer = await ask(questionAbout(parent), signal);
    if (answer?.trim().toLowerCase() !== "yes") return untilAborted(signal);
    const show = await ask("Always show you the sessions that it starts? [Y/n] ", signal);
    const attach = /^n/i.test(show?.trim() ?? "") ? "never" : "always";
    await parents.allow(parent, { attach, allowed_at: new Date(clock.wall()).toISOString() });
  }

  async #elsewhere(parent: ParentProgram, signal: AbortSignal): Promise<void> {
    const aborted = untilAborted(signal);
    while (!signal.aborted && !(await this.#look(parent))) {
      let stop = () => {};
      const later = new Promise<void>((resolve) => {
        stop = this.#options.clock.after(LOOK_MS, resolve);
      });
      await Promise.race([later, aborted]);
      stop();
    }
  }
}

/** No answer on the terminal: another one may still come from elsewhere. */
function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}

export function nameOf({ argv0, path, script }: ParentProgram): string {
  return safeLine(`${basename(argv0)} (${script?.path ?? path})`);
}

function questionAbout(parent: ParentProgram): string {
  return [
    "",
    `oxbow: ${nameOf(parent)} wants to drive Oxbow: to run an AI agent with a shell on this machine.`,
    `  sha256 ${parent.sha256}`,
    ...(parent.script ? [`  script ${parent.script.sha256}`] : []),
    "  It cannot approve its own calls; questions come to you. Type yes to allow this program, anything else to refuse: ",
  ].join("\r\n");
}
