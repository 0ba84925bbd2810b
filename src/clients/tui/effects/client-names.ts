/** Notices about other clients, with the names that they gave themselves. */
import { safeLine } from "../../../base/terminal-text.js";
import type { ClientInfo } from "../../../protocol/queries.js";
import type { CarrierOptions, EngineEffect } from "./carrier.js";

/** A resumed session tells of many turns at once. */
const FRESH_MS = 1000;

export class ClientNames {
  readonly #options: CarrierOptions;
  #listed: { readonly at: number; readonly clients: Promise<readonly ClientInfo[]> } | undefined;

  constructor(options: CarrierOptions) {
    this.#options = options;
  }

  async show({ client, text }: Extract<EngineEffect, { readonly do: "tell who" }>): Promise<void> {
    const { print, update } = this.#options;
    const found = (await this.#clients()).find(({ id }) => id === client);
    if (found === undefined) return;
    const name = `${safeLine(found.name ?? client)}${found.identity === "agent" ? " (agent)" : ""}`;
    print({ kind: "notice", level: "info", text: text.replace("<client>", () => name) });
    update((now) => now);
  }

  #clients(): Promise<readonly ClientInfo[]> {
    const { client, clock } = this.#options;
    const now = clock.now();
    if (this.#listed === undefined || now - this.#listed.at > FRESH_MS) {
      const clients = client.query("ListClients", {}).then((reply) => (reply.ok ? reply.answer.clients : []));
      this.#listed = { at: now, clients };
    }
    return this.#listed.clients;
  }
}
