/**
 * The MCP servers of one session.
 *
 * 1. They connect in the background, after the first request is on its way. A turn waits only for servers that its input names.
 * 2. The tools of a server with few of them join the list when it is ready, in the order of arrival. Of a server with many, those
 *    join that the search found.
 * 3. The list only grows within a session, except for tools that are gone, so that the beginning of requests stays the same.
 */
import { safeLine } from "../../base/terminal-text.js";
import type { Tool, ToolContext, ToolOutcome } from "../../engine/ports.js";
import type { Turn } from "../../engine/turn.js";
import { type InputContent, plainText } from "../../protocol/content.js";
import { failure } from "../../protocol/errors.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { JsonObject } from "../../protocol/json.js";
import { type ChosenServers, chooseServers } from "./choose-servers.js";
import type { McpContext, ServerHost } from "./context.js";
import { readMentions } from "./mentions.js";
import { SERVERS, type ServerHandle } from "./registry.js";
import { isNamed } from "./search-definition.js";
import { search } from "./search-tool.js";
import type { McpServer } from "./server.js";
import { serverUser } from "./server-user.js";
import { expectedTool, sessionTool, type ToolPlace } from "./session-tools.js";
import { shortName, toolName } from "./tool-names.js";

interface Listed {
  readonly tool: Tool;
  readonly fingerprint: string;
}

export class SessionServers {
  readonly #context: McpContext;
  readonly #host: ServerHost;
  readonly #tools: ToolPlace;
  readonly #reported = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #activated = new Set<string>();
  readonly #unwatch: (() => void)[] = [];
  #handles: readonly ServerHandle[] = [];
  #chosen: ChosenServers = { servers: [], problems: [], hidden: [], off: [] };
  #listed = new Map<string, Listed>();
  #turn: Turn | undefined;
  #isClosed = false;

  private constructor(context: McpContext, tools: Omit<ToolPlace, "user">, host: ServerHost) {
    this.#context = context;
    this.#host = host;
    this.#tools = { ...tools, user: serverUser(context, () => this.#turn) };
  }

  static async open(context: McpContext): Promise<SessionServers> {
    const { delimit } = await context.safeText();
    const wrap: ToolPlace["wrap"] = (text, about) => delimit({ ...about, text });
    let servers: SessionServers | undefined;
    const host = await context.host((message) => servers?.report(message));
    servers = new SessionServers(context, { wrap }, host);
    await servers.choose();
    return servers;
  }

  get servers(): readonly McpServer[] {
    return this.#handles.map(({ server }) => server);
  }

  get chosen(): ChosenServers {
    return this.#chosen;
  }

  /** Reads the entries again; unchanged servers stay. */
  async choose(): Promise<void> {
    const { extensions } = this.#context;
    this.#chosen = await chooseServers(extensions.of("mcp"), this.#host.place);
    for (const problem of this.#chosen.problems) this.report(problem);
    const before = this.#handles;
    this.#handles = this.#chosen.servers.map((chosen) => {
      const { unset, name } = chosen.config;
      if (unset.length > 0)
        this.report(`The MCP server '${name}' names variables that are not set: ${unset.join(", ")}`);
      const handle = SERVERS.acquire(this.#host.keyOf(chosen), () => this.#host.options(chosen));
      this.#watch(handle.server);
      return handle;
    });
    await Promise.all(before.map((handle) => handle.release()));
  }

  /** Begins to connect to all of them. */
  begin(): void {
    if (!this.#isClosed) for (const server of this.servers) server.begin();
  }

  /** For the model, now. */
  get tools(): readonly Tool[] {
    return [...this.#listed.values()].map(({ tool }) => tool);
  }

  search(args: JsonObject, { signal }: ToolContext): Promise<ToolOutcome> {
    this.begin();
    const place = { servers: () => this.servers, activate: (found: Found) => this.#activate(found) };
    return search(args, { place, signal });
  }

  /** A tool that is not listed, or not known yet. */
  find(name: string): Tool | undefined {
    for (const server of this.servers) {
      const offered = server.tools.find((tool) => toolName(server.config.name, tool.name) === name);
      if (offered !== undefined) return sessionTool(server, offered, this.#tools);
    }
    const server = this.servers.find(({ config }) => name.startsWith(`mcp__${config.name}__`));
    return server && expectedTool(server, name, this.#tools);
  }

  /** Before each iteration. */
  async refresh(turn: Turn): Promise<void> {
    this.#turn = turn;
    if (turn.iterations === 0) await this.#waitForNamed(turn);
    await this.#askAboutChanges(turn);
    this.#list();
  }

  /** Tells what the user asked for with `@SERVER:URI`. */
  async noticeFor(input: readonly InputContent[]): Promise<string | undefined> {
    const isPerson = this.#context.parent === undefined && this.#context.byPerson();
    return isPerson ? readMentions(plainText(input), { servers: this.servers, ...this.#tools }) : undefined;
  }

  get toolPlace(): ToolPlace {
    return this.#tools;
  }

  get stamp(): string {
    return this.servers.map(({ config, version }) => `${config.name} ${version}`).join("\n");
  }

  named(name: string): McpServer | undefined {
    return this.servers.find(({ config }) => config.name === name || shortName(config.name) === name);
  }

  /** Once for each message. */
  report(message: string): void {
    if (this.#isClosed || this.#reported.has(message)) return;
    this.#reported.add(message);
    this.#context.notify(message);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const unwatch of this.#unwatch) unwatch();
    await Promise.all(this.#handles.map((handle) => handle.release()));
    this.#handles = [];
  }

  #watch(server: McpServer): void {
    const { bus, log } = this.#context;
    const unwatch = server.watch({
      report: (message) => this.report(message),
      down: (about) => {
        if (this.#isClosed) return;
        bus.publish("MCPServerDown", about);
        this.report(downMessage(about));
        log("warn", "mcp", "a server is down", { ...about });
      },
    });
    this.#unwatch.push(unwatch);
    // It may be down since before this session.
    if (server.state === "down") void server.restart(new AbortController().signal).catch(() => {});
  }

  async #waitForNamed({ input, signal }: Turn): Promise<void> {
    const words = plainText(input);
    const named = this.servers.filter(({ config }) => isNamed(config.name, words));
    await Promise.all(named.map((server) => server.ready(signal).catch((error: Error) => this.report(error.message))));
  }

  #activate(found: Found): void {
    for (const { server, name } of found) this.#activated.add(toolName(server.config.name, name));
  }

  #list(): void {
    const wanted = new Map<string, () => Listed>();
    for (const server of this.servers) {
      for (const offered of server.tools) {
        const name = toolName(server.config.name, offered.name);
        if (!server.isEager && !this.#activated.has(name)) continue;
        const { fingerprint } = offered;
        wanted.set(name, () => ({ fingerprint, tool: sessionTool(server, offered, this.#tools) }));
      }
    }
    for (const [name, { fingerprint }] of this.#listed) {
      const now = wanted.get(name)?.();
      if (now === undefined) this.#listed.delete(name);
      else if (now.fingerprint !== fingerprint) this.#listed.set(name, now);
    }
    for (const [name, make] of wanted) if (!this.#listed.has(name)) this.#listed.set(name, make());
  }

  /** A server that describes its tools differently than before may want something else with them. */
  async #askAboutChanges(turn: Turn): Promise<void> {
    const { person, newCall } = this.#context;
    for (const server of this.servers) {
      if (server.withheld.length === 0 || turn.signal.aborted) continue;
      const names = server.withheld.map(({ name }) => safeLine(name));
      const version = server.withheld.map(({ fingerprint }) => fingerprint).join();
      if (this.#asked.has(version)) continue;
      const mayAsk = person.present() && this.#context.byPerson();
      const { name } = server.config;
      if (!mayAsk) {
        this.report(
          `The MCP server '${name}' changed these since they were approved, so they are withheld: ${names.join(", ")}. Approve them: /mcp approve ${name}`,
        );
        continue;
      }
      this.#asked.add(version);
      const question = {
        call: newCall(),
        tool: "approve",
        args: {},
        summary: `approve what changed of the MCP server '${name}': ${names.join(", ")}`,
        reason:
          "The server describes them differently than when you approved it. Until you approve, the model does not get them.",
        preview: server.describeWithheld(),
        once_only: true as const,
      };
      const answer = await person.ask(question, turn.signal);
      if (answer.decision !== "deny" && answer.unanswered === undefined) await server.approveTools();
    }
  }
}

type Found = readonly { readonly server: McpServer; readonly name: string }[];

/** Says what is wrong once. A server that was not even tried again needs something else than a restart. */
export function downMessage(about: EventPayloads["MCPServerDown"]): string {
  const { name, reason, attempts } = about;
  if (attempts > 0) return failure("MCPServerUnavailable", { ...about, detail: reason }).message;
  return reason.startsWith("MCP server ") ? reason : `MCP server '${name}' is not available: ${reason}`;
}
