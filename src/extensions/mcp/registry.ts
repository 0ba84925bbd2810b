/**
 * The servers of this process. Sessions in one folder share a server with the same entry; the last one that leaves stops it.
 */

import type { McpMessage } from "../../protocol/queries.js";
import type { ServerOptions } from "./context.js";
import { McpServer } from "./server.js";

export interface ServerHandle {
  readonly server: McpServer;
  /** The server stops when no session uses it any more. */
  release(): Promise<void>;
}

export interface ServerInfo {
  readonly name: string;
  readonly state: string;
  readonly tools: number;
  /** Within the last minute. */
  readonly restarts: number;
  /** Says how many sessions use it. */
  readonly users: number;
  readonly detail?: string;
}

interface Held {
  readonly server: McpServer;
  users: number;
}

export class ServerRegistry {
  readonly #held = new Map<string, Held>();

  /** `key`: everything that makes two servers different. */
  acquire(key: string, make: () => ServerOptions): ServerHandle {
    const known = this.#held.get(key);
    const held = known ?? { server: new McpServer(make()), users: 0 };
    if (known === undefined) this.#held.set(key, held);
    held.users++;
    let isReleased = false;
    return {
      server: held.server,
      release: async () => {
        if (isReleased) return;
        isReleased = true;
        held.users--;
        if (held.users > 0) return;
        if (this.#held.get(key) === held) this.#held.delete(key);
        await held.server.stop();
      },
    };
  }

  /** Counts how many sessions use each server, for status. */
  get counts(): readonly { readonly name: string; readonly users: number; readonly state: string }[] {
    return [...this.#held.values()].map(({ server, users }) => ({
      name: server.config.name,
      users,
      state: server.state,
    }));
  }

  /** For clients that list them; those of one folder, if it is given. */
  states(root?: string): readonly ServerInfo[] {
    return [...this.#held.values()]
      .filter(({ server }) => root === undefined || server.root === root)
      .map(({ server: { config, state, tools, problem, restarts }, users }) => ({
        ...{ name: config.name, state, tools: tools.length, restarts, users },
        ...(problem !== undefined && { detail: problem }),
      }));
  }

  /** The messages of the servers with this name that work in a folder, oldest first. */
  traffic(
    { root, name }: { readonly root: string; readonly name: string },
    redact: (text: string) => string,
  ): readonly McpMessage[] {
    return [...this.#held.values()]
      .filter(({ server }) => server.root === root && server.config.name === name)
      .flatMap(({ server }) => server.traffic.shown(redact))
      .sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
  }
}

export const SERVERS = new ServerRegistry();
