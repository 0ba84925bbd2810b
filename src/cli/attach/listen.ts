/** The engine of this process listens for other clients, from a moment after the first paint until the conversation ends. */

import type { Variables } from "../../base/variables.js";
import type { ServiceLog } from "../../control/auth/refused-tokens.js";
import type { ControlOwner } from "../../control/control-owner.js";
import type { EngineClient } from "../../protocol/client.js";
import type { Engine } from "../../runtime/open-engine.js";
import type { ServedEngine } from "../../runtime/serve.js";
import type { LogFunction } from "../../system/log.js";
import type { Roots } from "../../system/xdg-paths.js";
import { webFolder } from "../web/web-folder.js";

/** The person sees the prompt first; loading a server takes a moment. */
const LATER_MS = 150;

export interface ListeningOptions {
  readonly engine: Engine;
  readonly client: EngineClient;
  readonly roots: Roots;
  readonly variables: Variables;
  readonly log: LogFunction;
  /** False: only the ports. */
  readonly socket?: false;
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
  }

  /** Nothing waits for it. A process that cannot listen still works. */
  begin(): void {
    const { clock } = this.#options.engine;
    this.#cancel ??= clock.after(LATER_MS, () => {
      this.#begun = this.#listen().catch((error: unknown) => {
        this.#options.log("warn", "control", "cannot listen for other clients", { error: String(error) });
        if (this.#ports.length > 0) this.#options.notify?.(error instanceof Error ? error.message : String(error));
        // Another process may be able to.
        this.#owner?.close();
        this.#owner = undefined;
      });
    });
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
      import("../../control/control-place.js"),
      import("../../control/control-owner.js"),
      import("../../runtime/serve.js"),
    ]);
    const { engine, roots, variables, log } = this.#options;
    if (this.#ended) return;
    if (this.#options.socket !== false) this.#owner = await Owner.claim(controlPlace(roots), engine.clock);
    const owner = this.#owner;
    const listen = this.#ports;
    if (this.#ended || (owner === undefined && listen.length === 0)) return;
    const logInfo: ServiceLog = (component, message, fields) => log("info", component, message, fields);
    // Without the socket, which another process has, the ports still work.
    const socket = owner === undefined ? ({ socket: false } as const) : { owner };
    const options = {
      roots,
      variables,
      ...socket,
      listen,
      authChannel: "client",
      log: logInfo,
      web: webFolder(),
    } as const;
    this.#served = await serveEngine(engine, options);
    const addresses = this.#served.addresses.filter((address) => address.startsWith("http"));
    if (addresses.length > 0) this.#options.notify?.(`Listening on ${addresses.join(", ")}`);
  }

  get #ports(): readonly string[] {
    return this.#options.listen ?? [];
  }
}
