/** The port of the web client, and the codes that sign in its pages. */
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.js";
import { writePrivateFile } from "./auth/private-file.js";
import type { Tokens } from "./auth/tokens.js";
import type { WebAddress } from "./transports/http/call.js";
import { listenOnPort } from "./transports/http/listen.js";
import type { HttpService } from "./transports/http/server.js";
import { WebPages } from "./transports/http/web-pages.js";

export interface WebListenerOptions {
  readonly tokens: Pick<Tokens, "codeForPage">;
  readonly state: string;
  /** The files of the web client. */
  readonly folder: string | undefined;
  readonly clock: Clock;
  readonly onOpen: (address: string) => void;
}

/** Holds the port while the web client is shown: the next engine takes it if this one is killed. */
const PORT_FILE = "web.port";

export class WebListener {
  readonly #service: HttpService;
  readonly #options: WebListenerOptions;
  #address: Promise<string> | undefined;
  askedAt = Number.NEGATIVE_INFINITY;

  constructor(service: HttpService, options: WebListenerOptions) {
    this.#service = service;
    this.#options = options;
  }

  async open({ port = 0 }: { readonly port?: number }): Promise<WebAddress> {
    const { tokens, clock } = this.#options;
    this.askedAt = clock.now();
    this.#address ??= this.#listen(port).catch((error) => {
      this.#address = undefined;
      throw error;
    });
    const address = await this.#address;
    const { code, expires_at } = tokens.codeForPage({ identity_class: "human", display_name: "web" });
    return { address, url: `${address}/#${code}`, expires_at };
  }

  /** Another program may have the port by now. */
  async openAgain(): Promise<void> {
    const port = this.#options.folder === undefined ? undefined : this.#keptPort();
    if (port === undefined) return;
    this.#address = this.#listen(port);
    await this.#address.catch(() => {
      this.#address = undefined;
    });
  }

  /** The engine ends in order. */
  async forget(): Promise<void> {
    if (this.#address !== undefined) await rm(this.#path, { force: true });
  }

  async #listen(port: number): Promise<string> {
    const { folder, onOpen } = this.#options;
    if (folder === undefined) throw new Error("This engine has no web client.");
    const pages = new WebPages(folder);
    const address = await listenOnPort(this.#service, { host: "127.0.0.1", port }, { origins: [], pages });
    await writePrivateFile(this.#path, new URL(address).port);
    onOpen(address);
    return address;
  }

  get #path(): string {
    return join(this.#options.state, PORT_FILE);
  }

  #keptPort(): number | undefined {
    try {
      return Number(readFileSync(this.#path, "utf8")) || undefined;
    } catch {
      return undefined;
    }
  }
}
