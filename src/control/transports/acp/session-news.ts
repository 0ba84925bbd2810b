/** Describes what the editor should know about a session besides its events: what can be set, which commands there are, its title. */
import type { SessionConfigOption, SessionUpdate } from "@agentclientprotocol/sdk";
import { safeLine } from "../../../base/terminal-text.js";
import type { EngineClient } from "../../../protocol/client.js";
import type { SessionId } from "../../../protocol/ids.js";
import type { AcpSession } from "./acp-session.js";
import { availableCommand, isForEditors } from "./commands.js";
import { thought } from "./event-updates.js";
import { configOptions, statusOf } from "./session-options.js";

export type News = "options" | "commands" | "title";

export class SessionNews {
  readonly #client: EngineClient;
  readonly #log: (message: string) => void;
  readonly #titles = new Map<SessionId, string>();
  #models: Promise<readonly string[]> | undefined;

  constructor(client: EngineClient, log: (message: string) => void) {
    this.#client = client;
    this.#log = log;
  }

  /** All that a new session has. */
  async begin(session: SessionId, shown: AcpSession): Promise<void> {
    await Promise.all([this.send("commands", session, shown), this.#showWaiting(session, shown)]);
    await this.#modelNames();
    await this.send("options", session, shown);
  }

  async send(what: News, session: SessionId, shown: AcpSession): Promise<void> {
    try {
      shown.show(await this.#updates(what, session, shown));
    } catch (error) {
      this.#log(`cannot tell the editor about ${what}: ${String(error)}`);
    }
  }

  async options(session: SessionId): Promise<SessionConfigOption[]> {
    const status = await statusOf({ client: this.#client, session });
    return configOptions(status, await this.#modelNames());
  }

  async #updates(what: News, session: SessionId, shown: AcpSession): Promise<readonly SessionUpdate[]> {
    if (what === "options") {
      shown.contextWindow = (await statusOf({ client: this.#client, session })).place?.context_window;
      return [{ sessionUpdate: "config_option_update", configOptions: await this.options(session) }];
    }
    if (what === "title") return this.#title(session);
    const reply = await this.#client.query("ListCommands", {}, session);
    if (!reply.ok) return [];
    const availableCommands = reply.answer.commands.filter(isForEditors).map(availableCommand);
    return [{ sessionUpdate: "available_commands_update", availableCommands }];
  }

  async #title(session: SessionId): Promise<readonly SessionUpdate[]> {
    const reply = await this.#client.query("ListSessions", { limit: 1 }, session);
    const found = reply.ok ? reply.answer.sessions.find(({ id }) => id === session) : undefined;
    if (found?.title === undefined || found.title === this.#titles.get(session)) return [];
    this.#titles.set(session, found.title);
    return [{ sessionUpdate: "session_info_update", title: safeLine(found.title), updatedAt: found.active_at }];
  }

  /** Content that the user has not approved is not in use, and the user should know it. */
  async #showWaiting(session: SessionId, shown: AcpSession): Promise<void> {
    const reply = await this.#client.query("ListWaitingContent", {}, session);
    const items = reply.ok ? reply.answer.items.filter(({ state }) => state !== "refused") : [];
    if (items.length === 0) return;
    const names = items.map(({ name }) => safeLine(name)).join(", ");
    const message = `Oxbow does not use content that you have not approved: ${names}. Run 'oxbow ack' in a terminal.\n`;
    shown.show(thought(message));
  }

  /** Providers may be slow to answer, so they are asked once. */
  #modelNames(): Promise<readonly string[]> {
    this.#models ??= this.#client.query("ListModels", {}).then((reply) => {
      return reply.ok ? reply.answer.models.map(({ provider, model }) => `${provider}:${model}`) : [];
    });
    return this.#models;
  }
}
