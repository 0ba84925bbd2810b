/** The engine of this process listens for other clients, from a moment after the first paint until the conversation ends. */
import { safeLine } from "../../base/terminal-text.js";
import type { Variables } from "../../base/variables.js";
import type { EngineClient } from "../../protocol/client.js";
import type { JsonObject } from "../../protocol/json.js";
import type { ControlOwner } from "../../runtime/control-owner.js";
import type { Engine } from "../../runtime/open-engine.js";
import type { ServedEngine } from "../../runtime/serve.js";
import type { LogFunction } from "../../system/log.js";
import type { Roots } from "../../system/xdg-paths.js";
import { clientWords, othersOf } from "./others.js";

/** The person sees the prompt first; loading a server takes a moment. */
const LATER_MS = 150;
const LOOK_MS = 100;

export interface ListeningOptions {
  readonly engine: Engine;
  readonly client: EngineClient;
  readonly roots: Roots;
  readonly variables: Variables;
  readonly log: LogFunction;
  /** This process owns the socket already: it took over from another one. */
  readonly owner?: ControlOwner | undefined;
  /** Ports besides the socket, as `HOST:PORT`; `notify` gets their addresses, or why they cannot be used. */
  readonly listen?: readonly string[];
  readonly notify?: (message: string) => void;
}

export class Listening {
  readonly #options: ListeningOptions;
  #owner: ControlOwner | undefined;
  #begun: Promise<void> | undefined;
  #served: ServedEngine | undefined;
  #cancel: (() => void) | undefined;
  #ended = false;

  constructor(options: ListeningOptions) {
    this.#options = options;
    this.#owner = options.owner;
  }

  /** Nothing waits for it. A process that cannot listen still works. */
  begin(): void {
    const { clock } = this.#options.engine;
    this.#cancel ??= clock.after(this.#owner === undefined ? LATER_MS : 0, () => {
      this.#begun = this.#listen().catch((error: unknown) => {
        this.#options.log("warn", "control", "cannot listen for other clients", { error: String(error) });
        if (this.#ports.length > 0) this.#options.notify?.(error instanceof Error ? error.message : String(error));
        // Another process may be able to.
        this.#owner?.close();
        this.#owner = undefined;
      });
    });
  }

  /** Other clients are in a session of this engine. */
  async hasOthers(): Promise<boolean> {
    return this.#begun !== undefined && (await this.#others()).length > 0;
  }

  /**
   * Waits for the turns of other clients. What they work on is stored, so one of them continues as the engine afterwards.
   * `say` tells the person why the program does not end at once.
   */
  async waitForOthers(say: (message: string) => void): Promise<void> {
    const { client, engine } = this.#options;
    for (let isReported = false; ; isReported = true) {
      const busy = await this.#busySessions();
      if (busy.length === 0) return;
      if (!isReported) {
        const names = (await this.#others()).map((other) => safeLine(clientWords(other)));
        say(`Waiting for a turn of ${names.join(", ")}. Ctrl-C ends it.`);
        const stop = () => {
          for (const session of busy) void client.send("CancelTurn", {}, session);
        };
        process.once("SIGINT", stop);
      }
      await new Promise<void>((resolve) => engine.clock.after(LOOK_MS, resolve));
    }
  }

  /** After the engine was closed: clients have got its last events. */
  async close(): Promise<void> {
    this.#ended = true;
    this.#cancel?.();
    await this.#begun;
    await this.#served?.close();
    this.#owner?.close();
  }

  async #listen(): Promise<void> {
    const [{ controlPlace }, { ControlOwner: Owner }, { serveEngine }] = await Promise.all([
      import("../../runtime/control-place.js"),
      import("../../runtime/control-owner.js"),
      import("../../runtime/serve.js"),
    ]);
    const { engine, roots, variables, log } = this.#options;
    if (this.#ended) return;
    this.#owner ??= await Owner.claim(controlPlace(roots), engine.clock);
    const owner = this.#owner;
    const listen = this.#ports;
    if (this.#ended || (owner === undefined && listen.length === 0)) return;
    const logInfo = (message: string, fields?: JsonObject) => log("info", "control", message, fields);
    // Without the socket, which another process has, the ports still work.
    const socket = owner === undefined ? ({ socket: false } as const) : { owner };
    const options = { roots, variables, ...socket, listen, authChannel: "client", log: logInfo } as const;
    this.#served = await serveEngine(engine, options);
    const addresses = this.#served.addresses.filter((address) => address.startsWith("http"));
    if (addresses.length > 0) this.#options.notify?.(`Listening on ${addresses.join(", ")}`);
  }

  get #ports(): readonly string[] {
    return this.#options.listen ?? [];
  }

  async #others() {
    return (await othersOf(this.#options.client)).filter(({ sessions }) => sessions.length > 0);
  }

  async #busySessions() {
    const { client } = this.#options;
    const sessions = new Set((await this.#others()).flatMap(({ sessions: own }) => own));
    const states = await Promise.all(
      [...sessions].map(async (session) => ({ session, status: await client.query("GetStatus", {}, session) })),
    );
    return states.filter(({ status }) => status.ok && status.answer.busy).map(({ session }) => session);
  }
}
