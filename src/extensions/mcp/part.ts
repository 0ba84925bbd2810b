/**
 * MCP servers. A session without any loads none of their code. With some, the first request waits for no server: it lists a tool that
 * is made of their names, and the tools that they offered last. They connect while the model answers.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { type ExtensionFile, type ExtensionFiles, extensionStamp } from "../../base/extension-files.js";
import type { Tool } from "../../engine/ports.js";
import type { SessionPart } from "../../feature/part.js";
import type { McpServerEntry } from "../../protocol/commands.js";
import { ownText, plainText } from "../../protocol/content.js";
import type { McpContext } from "./context.js";
import { isNamed, KNOWN_TOOLS_FILE, searchDefinition, serverNameOf } from "./search-definition.js";
import type { SessionServers } from "./session-servers.js";

/** After the request of a turn begins to be sent: neither the code of the servers nor their processes delay it. */
const CONNECT_AFTER_MS = 150;
/** A session that waits for its first input connects meanwhile. */
const IDLE_MS = 1000;

export function mcp(context: McpContext): SessionPart {
  return new McpPart(context).part();
}

class McpPart {
  readonly #context: McpContext;
  #opened: Promise<SessionServers> | undefined;
  #servers: SessionServers | undefined;
  #names: readonly string[] = [];
  #search: Tool | undefined;
  #stamp = "";
  #cancel = () => {};
  #isClosed = false;

  constructor(context: McpContext) {
    this.#context = { ...context, extensions: withHandedIn(context.extensions, context.handedIn) };
    this.#look();
    if (this.#names.length > 0) this.#connectAfter(IDLE_MS);
  }

  part(): SessionPart {
    return {
      name: "mcp",
      tools: () => (this.#search === undefined ? [] : [this.#search, ...(this.#servers?.tools ?? [])]),
      findTool: (name) => this.#find(name),
      refresh: async (turn) => {
        const isChanged = this.#look();
        try {
          if (isChanged) await this.#servers?.choose();
          const words = turn.iterations === 0 ? plainText(turn.input) : "";
          if (this.#names.some((name) => isNamed(name, words)) || this.#knowsTools()) await this.#open();
          await this.#servers?.refresh(turn);
        } catch (error) {
          this.#report(error);
        }
      },
      inputNotice: async (input) => {
        const words = plainText(input);
        if (!words.includes("@") || !this.#names.some((name) => isNamed(name, words))) return undefined;
        return (await this.#open()).noticeFor(input);
      },
      subscribers: [{ name: "61-mcp", run: ({ kind }) => void (kind === "TurnStarted" && this.#cancel()) }],
      links: {
        request: [
          {
            name: "95-mcp",
            run: async (request, _context, next) => {
              if (this.#names.length > 0) this.#connectAfter(CONNECT_AFTER_MS);
              return next(request);
            },
          },
        ],
      },
      loaded: async () => [["MCP servers", this.#names]],
      commandsStamp: () => `${this.#stamp}\n${this.#servers?.stamp ?? ""}`,
      commands: async () => {
        const { sessionCommands } = await import("./commands.js");
        return sessionCommands(this.#context, this.#names.length > 0 ? await this.#open() : undefined);
      },
      close: async () => {
        this.#isClosed = true;
        this.#cancel();
        await (await this.#opened?.catch(() => undefined))?.close();
      },
    };
  }

  /** True if the entries changed. */
  #look(): boolean {
    const { extensions } = this.#context;
    const stamp = extensionStamp(extensions, ["mcp"]);
    if (stamp === this.#stamp) return false;
    this.#stamp = stamp;
    const names = extensions.of("mcp").map(({ entry = "" }) => serverNameOf(entry));
    this.#names = [...new Set(names)].sort();
    this.#search =
      names.length === 0
        ? undefined
        : {
            ...searchDefinition(this.#names),
            run: async (args, context) => (await this.#open()).search(args, context),
          };
    return true;
  }

  /** Tells whether a server of this user connected before, so that its tools may be known. */
  #knowsTools(): boolean {
    return this.#names.length > 0 && existsSync(join(this.#context.roots.config, KNOWN_TOOLS_FILE));
  }

  #open(): Promise<SessionServers> {
    this.#opened ??= this.#load();
    return this.#opened;
  }

  async #load(): Promise<SessionServers> {
    const { SessionServers } = await import("./session-servers.js");
    this.#servers = await SessionServers.open(this.#context);
    return this.#servers;
  }

  #connectAfter(ms: number): void {
    this.#cancel();
    this.#cancel = this.#context.clock.after(ms, () => {
      if (this.#isClosed) return;
      this.#open().then(
        (servers) => servers.begin(),
        (error) => this.#report(error),
      );
    });
  }

  /** A call of a tool that no request has listed yet waits for its server. */
  #find(name: string): Tool | undefined {
    if (!name.startsWith("mcp__") || this.#names.length === 0) return undefined;
    const found = this.#servers?.find(name);
    const isExpected = this.#names.some((server) => name.startsWith(`mcp__${server}__`));
    if (found !== undefined || this.#servers !== undefined || !isExpected) return found;
    return {
      ...{ name, description: "", inputSchema: { type: "object" }, set: "command" },
      ...{ concurrencySafe: false, mutating: true, extension: { path: name, needs: [] }, check: () => [] },
      run: async (args, context) => {
        const tool = (await this.#open()).find(name);
        const problems = (await tool?.check?.(args)) ?? [];
        if (tool !== undefined && problems.length === 0) return tool.run(args, context);
        const why = tool === undefined ? "there is no such tool" : problems.join("; ");
        return { status: "error", content: [ownText(`Not run: ${why}.`)] };
      },
    };
  }

  #report(error: unknown): void {
    this.#context.notify(`Oxbow cannot use the MCP servers: ${(error as Error).message}`);
  }
}

function withHandedIn(extensions: ExtensionFiles, servers: readonly McpServerEntry[] | undefined): ExtensionFiles {
  if (servers === undefined || servers.length === 0) return extensions;
  const entries = servers.map(entryOf);
  return {
    of: (kind) => (kind === "mcp" ? [...extensions.of(kind), ...entries] : extensions.of(kind)),
    refresh: (depth) => extensions.refresh(depth),
    get version() {
      return extensions.version;
    },
  };
}

const FROM = "the client";

/** Only what says how to reach the server: a client cannot widen what it may do. */
function entryOf({ name, command, args, env, type, url, headers }: McpServerEntry): ExtensionFile {
  const text = JSON.stringify({ command, args, env, type, url, headers });
  return {
    ...{ kind: "mcp", scope: "user", path: FROM, source: FROM, name, entry: `mcp_servers.${name}`, executable: false },
    sha256: versionOf(text),
    read: async () => text,
    program: async () => {
      throw new Error("an entry of a client is not a program");
    },
  };
}

const versions = new Map<string, string>();

/** The same entry has the same version, so that sessions share its server. It tells nothing about the entry, which may hold keys. */
function versionOf(text: string): string {
  const known = versions.get(text) ?? `${FROM} ${versions.size + 1}`;
  versions.set(text, known);
  return known;
}
