/**
 * The ports of the web client, and the codes that sign in its pages.
 *
 * 1. One port is for this machine. Another one is for the local network, with TLS, from the moment on when a person asks for it.
 * 2. A page of this machine may do what the person may, except making tokens. One of another machine sees the sessions in some folders,
 *    and may answer what leaves neither the workspace nor the sandbox.
 */
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import type { Clock } from "../base/clock.js";
import type { CommandKind } from "../protocol/commands.js";
import { ownCertificate } from "./auth/own-certificate.js";
import { writePrivateFile } from "./auth/private-file.js";
import type { Tokens } from "./auth/tokens.js";
import { refuse, type WebAddress, type WebAsked } from "./transports/http/call.js";
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

interface LanListener {
  readonly address: string;
  readonly fingerprint: string;
}

/** The commands of another device of the person: to read, write, answer and interrupt. It changes no mode and approves no content. */
const LAN_COMMANDS: readonly CommandKind[] = [
  ...(["CreateSession", "AttachSession", "DetachSession", "SendInput", "TakeBackInput", "CancelTurn"] as const),
  ...(["AnswerPermission", "EnterPlanMode", "ExitPlanMode", "SetModel", "CustomCommand"] as const),
];

export class WebListener {
  readonly #service: HttpService;
  readonly #options: WebListenerOptions;
  #address: Promise<string> | undefined;
  #lan: Promise<LanListener> | undefined;
  askedAt = Number.NEGATIVE_INFINITY;

  constructor(service: HttpService, options: WebListenerOptions) {
    this.#service = service;
    this.#options = options;
  }

  async open({ port = 0, lan }: WebAsked): Promise<WebAddress> {
    const { tokens, clock } = this.#options;
    this.askedAt = clock.now();
    if (lan !== undefined) return this.#openLan(port, lan.folders);
    this.#address ??= this.#listen(port).catch((error) => {
      this.#address = undefined;
      throw error;
    });
    const address = await this.#address;
    const { code, expires_at } = tokens.codeForPage({ identity_class: "human", display_name: "web" });
    return { address, url: `${address}/#${code}`, expires_at };
  }

  async #openLan(port: number, folders: readonly string[]): Promise<WebAddress> {
    const { tokens } = this.#options;
    this.#lan ??= this.#listenInNetwork(port).catch((error) => {
      this.#lan = undefined;
      throw error;
    });
    const { address, fingerprint } = await this.#lan;
    const { code, expires_at } = tokens.codeForPage({
      ...{ identity_class: "human", display_name: "web, another device", folders, commands: LAN_COMMANDS },
    });
    return { address, url: `${address}/#${code}`, expires_at, fingerprint };
  }

  async #listenInNetwork(port: number): Promise<LanListener> {
    const { state, clock, onOpen } = this.#options;
    const addresses = ownAddresses();
    const [first] = addresses;
    if (first === undefined) throw refuse("NotFound", "This machine is in no network.");
    const { cert, key, fingerprint } = await ownCertificate(state, { addresses, now: clock.wall() });
    const how = { tls: { cert, key }, origins: [], pages: this.#pages() };
    const listening = new URL(await listenOnPort(this.#service, { host: "0.0.0.0", port }, how));
    const address = `https://${first}:${listening.port}`;
    onOpen(address);
    return { address, fingerprint };
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
    const how = { origins: [], pages: this.#pages() };
    const address = await listenOnPort(this.#service, { host: "127.0.0.1", port }, how);
    await writePrivateFile(this.#path, new URL(address).port);
    this.#options.onOpen(address);
    return address;
  }

  #pages(): WebPages {
    const { folder } = this.#options;
    if (folder === undefined) throw refuse("NotFound", "This engine has no web client.");
    return new WebPages(folder);
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

/** The addresses at which other machines reach this one. */
function ownAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((each = []) => each);
  return all.filter(({ internal, family }) => !internal && family === "IPv4").map(({ address }) => address);
}
