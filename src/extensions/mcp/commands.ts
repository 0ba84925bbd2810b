/** `/mcp`, `/mcp:SERVER status|restart|approve|logs`, `/mcp:SERVER:PROMPT` for each prompt of a server, and `oxbow mcp …`. */
import { join } from "node:path";
import type { ExtensionFile } from "../../base/extension-files.js";
import { counted } from "../../base/group-digits.js";
import { wordsIn } from "../../base/shell-word.js";
import { safeLine, safeText } from "../../base/terminal-text.js";
import { renderTable } from "../../base/text-table.js";
import { UsageError } from "../../base/usage-error.js";
import {
  asValue,
  BETWEEN_TURNS,
  COMMAND_EXIT,
  type Command,
  type CommandArguments,
  type CommandContext,
  type CommandOf,
  type CommandResult,
  type CommandSpec,
  EVERYONE,
  EVERYWHERE,
  IN_SESSION,
  IN_SHELL,
  refuse,
  type Subject,
  withPort,
} from "../../feature/command.js";
import type { Flag } from "../../feature/flags.js";
import type { PromptCommand } from "../../feature/part.js";
import { text } from "../../protocol/content.js";
import { isJsonObject } from "../../protocol/json.js";
import type { ServerPrompt } from "./connection.js";
import type { McpContext, SeenApproval, ServerHost } from "./context.js";
import type { WrittenServer } from "./edit-config.js";
import { KNOWN_TOOLS_FILE, serverNameOf } from "./search-definition.js";
import type { McpServer } from "./server.js";
import type { SessionServers } from "./session-servers.js";
import { shortName, toolName } from "./tool-names.js";
import { contentOf } from "./tool-result.js";

interface SessionPort {
  readonly context: McpContext;
  /** Absent if no entry names a server. */
  readonly servers: SessionServers | undefined;
}

/** Describes what `oxbow mcp` works on. */
export interface ShellPort extends ServerHost {
  readonly root: string;
  /** The user's configuration folder. */
  readonly config: string;
  /** The approved entries. */
  approved(): Promise<readonly ExtensionFile[]>;
  /** All entries. */
  entries(): Promise<readonly ListedEntry[]>;
  /** Approves the entry that the person has just written. */
  approveWritten(name: string, file: string): Promise<unknown>;
  redact(): Promise<(text: string) => string>;
}

interface ListedEntry {
  readonly entry?: string;
  readonly path: string;
  readonly scope: "user" | "project";
  readonly state: "approved" | "waiting" | "refused";
}

const TAKEN: ReadonlySet<string> = new Set(["list", "add", "remove", "test", "auth", "approve", "restart", "call"]);
const ACTIONS = ["status", "tools", "resources", "logs", "restart", "approve"] as const;

const CWD: Flag = {
  name: "cwd",
  value: "DIR",
  complete: "folder",
  help: "the folder to look from (default: the current one)",
};
const SCOPE: Flag = {
  name: "scope",
  value: "SCOPE",
  choices: ["user", "project"],
  help: "user: your own settings (default); project: .mcp.json of this folder",
};

const LIST: CommandSpec = {
  name: "mcp:list",
  aliases: ["mcp"],
  summary: "list the MCP servers, where they are named and what state they are in",
  shellFlags: [CWD],
  users: EVERYONE,
  places: EVERYWHERE,
};

const APPROVE: CommandSpec = {
  name: "mcp:approve",
  summary:
    "show an MCP server's entry and changed tools; with the VERSION shown, approve them and its program as they are now",
  arguments: [
    { name: "NAME", kind: "text", missing: "Name the server." },
    { name: "VERSION", kind: "text", optional: true },
  ],
  shellFlags: [CWD],
  places: ["between turns", "without a session"],
};

export const AUTH: CommandSpec = {
  name: "mcp:auth",
  summary: "sign in to an MCP server; the tokens stay in the credential helper",
  arguments: [{ name: "NAME", kind: "text", missing: "Name the server." }],
  flags: [
    { name: "scope", value: "SCOPES", help: "what to request, instead of what the server names" },
    { name: "no-browser", help: "do not open a browser; show the address only" },
    { name: "remove", help: "forget the sign-in" },
  ],
  shellFlags: [CWD],
  places: IN_SHELL,
};

const IN_A_SESSION: readonly CommandOf<SessionPort>[] = [
  { ...LIST, run: listRunning },
  {
    ...APPROVE,
    run: (args, port) => {
      const name = args.text("NAME") ?? "";
      return approveNamed(name, port, { version: args.text("VERSION"), command: `/mcp:approve ${name}` });
    },
  },
  {
    name: "mcp:call",
    summary: "call a tool of an MCP server yourself; it asks like any call, and the model gets the result",
    usage: "/mcp call TOOL [JSON]",
    arguments: [{ name: "CALL", kind: "line", rest: "text", missing: "Name the tool. /mcp lists them." }],
    sends: "SendInput",
    places: BETWEEN_TURNS,
    run: (args, port) => callByHand(args.text("CALL") ?? "", port),
  },
  {
    name: "mcp:restart",
    summary: "start an MCP server again",
    arguments: [{ name: "NAME", kind: "text", missing: "Name the server." }],
    places: IN_SESSION,
    run: (args, { servers }, context) => {
      const name = args.text("NAME") ?? "";
      const server = servers?.named(name);
      return server === undefined
        ? refuse(`There is no MCP server '${safeLine(name)}'. /mcp lists them.`)
        : restart(server, context);
    },
  },
];

const IN_THE_SHELL: readonly CommandOf<ShellPort>[] = [
  { ...LIST, run: listEntries },
  {
    name: "mcp:add",
    summary: "add an MCP server: a program, or an address",
    shellUsage:
      "oxbow mcp add NAME [--env NAME=VALUE]… -- COMMAND [ARGUMENT]…\n       oxbow mcp add NAME URL [--header NAME:VALUE]…",
    arguments: [
      { name: "NAME", kind: "text", missing: "Give the server a name." },
      { name: "COMMAND", kind: "text", rest: "list", missing: "Give the program and its arguments, or the address." },
    ],
    flags: [
      {
        name: "env",
        value: "NAME=VALUE",
        repeatable: true,
        help: "a variable for the server; $VAR in braces is read when it starts",
      },
      {
        name: "header",
        value: "NAME:VALUE",
        repeatable: true,
        help: "a header for each request; $VAR in braces is read when it connects",
      },
      {
        name: "transport",
        value: "KIND",
        choices: ["stdio", "http", "sse"],
        help: "stdio, http or sse (default: from the command or the address)",
      },
      SCOPE,
    ],
    shellFlags: [CWD],
    places: IN_SHELL,
    run: add,
  },
  {
    name: "mcp:remove",
    summary: "remove an MCP server that 'oxbow mcp add' added",
    arguments: [{ name: "NAME", kind: "text", missing: "Name the server." }],
    flags: [SCOPE],
    shellFlags: [CWD],
    places: IN_SHELL,
    run: remove,
  },
  {
    name: "mcp:test",
    summary: "connect to an MCP server and list what it offers",
    arguments: [{ name: "NAME", kind: "text", missing: "Name the server." }],
    shellFlags: [CWD],
    places: IN_SHELL,
    run: test,
  },
  { ...APPROVE, run: approveEntry },
];

export const subject: Subject = {
  name: "mcp",
  summary: "add, list, test and remove MCP servers",
  heading: "Subagents, skills and extensions",
  specs: [...IN_THE_SHELL, AUTH, ...IN_A_SESSION.filter(({ places }) => !places.includes("without a session"))],
  shell: {
    about: "Adds, lists, tests and removes MCP servers. In a session: /mcp, /mcp:NAME status.",
    more: "Servers are also read from .mcp.json and from the files of Claude Code, Cursor, VS Code and Codex. Each needs your approval ('oxbow ack').",
  },
};

export function shellCommands(port: ShellPort): readonly Command[] {
  return withPort(IN_THE_SHELL, () => port);
}

export function sessionCommands(context: McpContext, servers: SessionServers | undefined): readonly Command[] {
  const port = { context, servers };
  const commands = withPort(IN_A_SESSION, () => port);
  if (servers === undefined) return commands;
  const ofServers = servers.servers.flatMap((server) => [
    serverCommand(server, port),
    ...server.prompts.slice(0, MOST_PROMPTS).map((prompt) => promptCommand(server, prompt, { context, servers })),
  ]);
  return [...commands, ...ofServers];
}

const MOST_PROMPTS = 100;

function commandName({ config }: McpServer): string {
  const name = shortName(config.name);
  return TAKEN.has(name) ? `mcp:${name}_` : `mcp:${name}`;
}

function serverCommand(server: McpServer, port: SessionPort): Command {
  const name = commandName(server);
  return {
    name,
    summary: `show the MCP server ${safeLine(server.config.name)}, its tools, resources and log; restart or approve it`,
    usage: `/${name} [${ACTIONS.join("|")}]`,
    arguments: [
      { name: "ACTION", kind: "choice", optional: true, complete: ACTIONS },
      { name: "VERSION", kind: "text", optional: true },
    ],
    places: IN_SESSION,
    run: async (args, context) => {
      switch (args.text("ACTION") ?? "status") {
        case "restart":
          return restart(server, context);
        case "approve":
          return approveNamed(server.config.name, port, {
            version: args.text("VERSION"),
            command: `/${name} approve`,
          });
        case "tools":
          return listTools(server);
        case "resources":
          return listResources(server, port, context);
        case "logs": {
          const log = (await port.context.safeText()).redact(server.log.text);
          return { text: log || "Nothing was logged.", value: { log } };
        }
        default:
          return status(server);
      }
    },
  };
}

/** Lists the tools as the server describes them. */
function listTools({ config, tools }: McpServer): CommandResult {
  const rows = tools.map(({ name, description = "", inputSchema, readOnlyHint }) => {
    return { name: toolName(config.name, name), description, parameters: inputSchema, reads_only: readOnlyHint };
  });
  const lines = rows.map(({ name, description }) =>
    safeLine([name, description.split("\n")[0]].filter(Boolean).join("  ")),
  );
  return { text: lines.join("\n") || "It offers no tools.", value: asValue(rows) };
}

/** A person reads what the server offers: the model gets one with `@SERVER:URI`. */
async function listResources(
  server: McpServer,
  { servers }: SessionPort,
  { signal }: CommandContext,
): Promise<CommandResult> {
  if (servers === undefined) return refuse("This session has no MCP servers.");
  try {
    const connection = await server.ready(signal);
    const found = await server.with(servers.toolPlace.user, () => connection.resources(signal));
    const rows = found.map(({ uri, name = "", mimeType = "" }) => ({ uri, name, type: mimeType }));
    const lines = rows.map(({ uri, name, type }) => safeLine([uri, name, type].filter(Boolean).join("  ")));
    return { text: lines.join("\n") || "It offers no resources.", value: rows };
  } catch (error) {
    return refuse(safeText((error as Error).message));
  }
}

/** `TOOL {"argument": 1}`: the call asks as one of the model does. */
function callByHand(line: string, { servers }: SessionPort): CommandResult {
  const [, tool = "", json = ""] = /^\s*(\S+)\s*(.*)$/s.exec(line) ?? [];
  const names = (servers?.servers ?? []).flatMap((server) =>
    server.tools.map(({ name }) => toolName(server.config.name, name)),
  );
  if (!names.includes(tool))
    return refuse(`No MCP server has a tool '${safeLine(tool).slice(0, 100)}'. /mcp lists them.`);
  let args: unknown;
  try {
    args = JSON.parse(json.trim() || "{}");
  } catch {
    return refuse('Give the arguments as a JSON object: /mcp call TOOL {"name": "value"}');
  }
  if (!isJsonObject(args)) return refuse('Give the arguments as a JSON object: /mcp call TOOL {"name": "value"}');
  const typed = `/mcp call ${tool} ${json}`.trimEnd();
  return { text: "", value: { tool }, turn: { input: [text(typed)], calls: [{ tool, args }] } };
}

async function restart(server: McpServer, { signal }: CommandContext): Promise<CommandResult> {
  try {
    await server.restart(signal);
  } catch (error) {
    return refuse((error as Error).message);
  }
  return status(server);
}

interface NamedApproval {
  /** Of what the person has seen. */
  readonly version: string | undefined;
  /** Holds what to type, without the version. */
  readonly command: string;
}

/** Shows the entry and the changed tools first; then, with their version, approves them and the program. */
async function approveNamed(
  name: string,
  { context, servers }: SessionPort,
  { version, command }: NamedApproval,
): Promise<CommandResult> {
  const server = servers?.named(name);
  const more = server?.describeWithheld() ?? "";
  let approved: SeenApproval;
  try {
    approved = await (await context.host(context.notify)).approve(name, { version, more });
  } catch (error) {
    return refuse((error as Error).message);
  }
  if ("text" in approved)
    return { text: howToApprove(safeLine(command), approved), value: { name, version: approved.version } };
  const { files } = approved;
  if (files.length === 0 && server === undefined)
    return refuse(`No settings file has an MCP server '${safeLine(name)}'.`);
  await context.extensions.refresh("files");
  const tools = (await server?.approveTools()) ?? 0;
  const lines = [
    ...files.map((file) => `Approved '${safeLine(name)}' of ${file}, and its program as it is now.`),
    ...(tools > 0 ? [`Approved ${tools} changed tool${tools === 1 ? "" : "s"}.`] : []),
  ];
  if (server?.state === "down") {
    await server.stop();
    server.begin();
    lines.push("It starts again.");
  }
  return { text: lines.join("\n"), value: { name, files: [...files], tools } };
}

function status(server: McpServer): CommandResult {
  const facts = factsOf(server);
  const lines = Object.entries(facts).map(([name, value]) => {
    return `${name.padEnd(12)} ${Array.isArray(value) ? value.join(", ") : String(value)}`;
  });
  return { text: safeText(lines.join("\n")), value: asValue(facts) };
}

function factsOf(server: McpServer) {
  const { config, connection } = server;
  const { transport } = config;
  return {
    name: config.name,
    state: server.state,
    ...(server.problem !== undefined && { problem: server.problem }),
    from: config.path,
    scope: config.scope,
    ...(transport.kind === "stdio"
      ? { command: [transport.command, ...transport.args].join(" ") }
      : { url: addressOf(transport.url) }),
    ...(connection?.serverName !== undefined && { server: connection.serverName }),
    ...(connection?.protocolVersion !== undefined && { protocol: connection.protocolVersion }),
    tools: server.tools.map(({ name }) => name),
    ...(server.withheld.length > 0 && { withheld: server.withheld.map(({ name }) => name) }),
    ...(server.prompts.length > 0 && { prompts: server.prompts.map(({ name }) => name) }),
    ...(server.restarts > 0 && { restarts: server.restarts }),
  };
}

/** Keys in addresses are not shown. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function listRunning(_args: CommandArguments, { servers }: SessionPort, { screen }: CommandContext): CommandResult {
  const rows = (servers?.servers ?? []).map(factsOf);
  if (rows.length === 0) return { text: "There are no MCP servers. 'oxbow mcp add' adds one.", value: [] };
  const columns = [
    { header: "server", value: ({ name }: (typeof rows)[number]) => name, priority: 2 },
    { header: "state", value: ({ state }: (typeof rows)[number]) => state, priority: 2 },
    { header: "tools", value: ({ tools }: (typeof rows)[number]) => String(tools.length), priority: 1 },
    { header: "from", value: ({ from }: (typeof rows)[number]) => from, maxWidth: 100 },
  ];
  const table = renderTable(columns, rows, { width: screen?.width, color: screen?.color ?? false });
  const hidden = (servers?.chosen.hidden ?? []).map(
    ({ name, path, by }) => `'${name}' of ${path} is replaced by ${by}.`,
  );
  return { text: [table, ...hidden].join("\n"), value: asValue(rows) };
}

function promptCommand(server: McpServer, prompt: ServerPrompt, port: PromptPort): Command {
  const name = `${commandName(server)}:${safeName(prompt.name)}`;
  const hint = (prompt.arguments ?? []).map(({ name: each, required }) => (required ? each : `[${each}]`)).join(" ");
  return {
    name,
    summary: safeLine(prompt.description ?? `a prompt of ${server.config.name}`).slice(0, 200),
    usage: `/${name} ${safeLine(hint)}`.trimEnd(),
    arguments: [{ name: "ARGUMENTS", kind: "line", optional: true, rest: "text" }],
    places: BETWEEN_TURNS,
    withColons: true,
    run: async (args, context) => {
      const line = args.text("ARGUMENTS") ?? "";
      const { signal } = context;
      const used = { name: toolName(server.config.name, prompt.name), typed: name, line, signal };
      return port.context.asPrompt({ ...used, type: "mcp_prompt", source: "mcp" }, () =>
        usePrompt(used, { server, prompt, port }),
      );
    },
  };
}

type PromptPort = SessionPort & { readonly servers: SessionServers };

interface PromptUse {
  readonly server: McpServer;
  readonly prompt: ServerPrompt;
  readonly port: PromptPort;
}

async function usePrompt(
  { typed: name, line, signal }: Pick<PromptCommand, "line" | "signal"> & { readonly typed: string },
  { server, prompt, port }: PromptUse,
): Promise<CommandResult> {
  const given = promptArguments(line, prompt);
  const missing = (prompt.arguments ?? []).filter(({ name: each, required }) => required && given[each] === undefined);
  if (missing.length > 0) return refuse(`/${name} needs ${missing.map((each) => safeLine(each.name)).join(", ")}.`);
  try {
    const { wrap, user } = port.servers.toolPlace;
    const connection = await server.ready(signal);
    const messages = await server.with(user, () => connection.prompt(prompt.name, given, signal));
    const words = messages.map(({ role, content }) => {
      const made = contentOf(content);
      const body = made.type === "text" ? made.text : "(a picture, which is left out)";
      return messages.length === 1 ? body : `${role}: ${body}`;
    });
    const source = `MCP server ${server.config.name}, prompt ${prompt.name}`;
    const notice = `The user asks you to do what this prompt of the MCP server says, as far as the user would expect it:\n\n${wrap(words.join("\n\n"), { source, kind: "prompt" })}`;
    const typed = `/${name}${line === "" ? "" : ` ${line}`}`;
    return { text: "", value: { command: name }, turn: { input: [text(typed)], notice } };
  } catch (error) {
    return refuse(safeText((error as Error).message));
  }
}

/** `NAME=VALUE`, or values in the order of the arguments. */
function promptArguments(line: string, { arguments: known = [] }: ServerPrompt): Record<string, string> {
  const given: Record<string, string> = {};
  const rest: string[] = [];
  for (const word of wordsIn(line)) {
    const at = word.indexOf("=");
    const name = word.slice(0, Math.max(at, 0));
    if (at > 0 && known.some((each) => each.name === name)) given[name] = word.slice(at + 1);
    else rest.push(word);
  }
  const open = known.filter(({ name }) => given[name] === undefined);
  for (const [index, { name }] of open.entries()) {
    // The last one takes what is left.
    const value = index === open.length - 1 ? rest.slice(index).join(" ") : rest[index];
    if (value !== undefined && value !== "") given[name] = value;
  }
  return given;
}

function safeName(name: string): string {
  return name.replace(/[^A-Za-z0-9_.-]+/g, "-").slice(0, 64) || "prompt";
}

/** Finds the approved servers of the place. */
async function approvedServers(port: ShellPort) {
  const { chooseServers } = await import("./choose-servers.js");
  return chooseServers(await port.approved(), port.place);
}

/** Returns the tools that the approved servers offered when they were connected last, and the servers that never were. */
export async function offeredLast(port: ShellPort) {
  const { ServerOffer } = await import("./server-offer.js");
  const { servers } = await approvedServers(port);
  return servers.map((chosen) => {
    const { name: server } = chosen.config;
    const { tools } = new ServerOffer({ ...port.options(chosen), onProblem: () => {} });
    return { server, tools: tools.map(({ name, ...tool }) => ({ ...tool, name: toolName(server, name) })) };
  });
}

async function listEntries(
  _args: CommandArguments,
  port: ShellPort,
  { screen, warn }: CommandContext,
): Promise<CommandResult> {
  const chosen = await approvedServers(port);
  for (const problem of chosen.problems) warn(safeLine(problem));
  const rows = (await port.entries()).map(({ entry = "", path, scope, state }) => {
    const name = serverNameOf(entry);
    const used = chosen.servers.find(({ config }) => config.name === name && config.path === path);
    const isOff = chosen.off.includes(name);
    const now = state !== "approved" ? state : used !== undefined ? "approved" : isOff ? "off" : "not used";
    const { transport } = used?.config ?? {};
    const what =
      transport === undefined ? "" : transport.kind === "stdio" ? transport.command : addressOf(transport.url);
    return {
      name: safeLine(name),
      scope: entry.startsWith("projects.") ? "local" : scope,
      state: now,
      path,
      what,
    };
  });
  if (rows.length === 0) return { text: "There are no MCP servers. Add one: oxbow mcp add NAME -- COMMAND", value: [] };
  type Row = (typeof rows)[number];
  const columns = [
    { header: "server", value: ({ name }: Row) => name, priority: 3 },
    { header: "state", value: ({ state }: Row) => state, priority: 2 },
    { header: "what", value: ({ what }: Row) => safeLine(what), maxWidth: 60, priority: 1 },
    { header: "from", value: ({ path }: Row) => path, maxWidth: 100 },
  ];
  const table = renderTable(columns, rows, { width: screen?.width, color: screen?.color ?? false });
  const waits = rows.some(({ state }) => state === "waiting");
  return { text: waits ? `${table}\n\nApprove what waits: oxbow ack` : table, value: asValue(rows) };
}

function scopeOf(args: CommandArguments): "user" | "project" {
  const scope = args.flag("scope") ?? "user";
  if (scope !== "user" && scope !== "project") throw new UsageError("--scope is user or project.");
  return scope;
}

function fileOf(scope: "user" | "project", { config, root }: ShellPort): string {
  return scope === "user" ? join(config, "config.toml") : join(root, ".mcp.json");
}

async function add(args: CommandArguments, port: ShellPort): Promise<CommandResult> {
  const name = args.text("NAME") ?? "";
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name))
    return refuse("A server's name has letters, digits, - _ and ., and at most 64 characters.");
  const scope = scopeOf(args);
  const file = fileOf(scope, port);
  const server = writtenServer(args);
  const { addToProject, addToSettings } = await import("./edit-config.js");
  await (scope === "user" ? addToSettings(file, name, server) : addToProject(file, name, server));
  // The person has just written it.
  await port.approveWritten(name, file);
  const text = `Added '${name}' to ${file}, and approved it as it is now.\nTry it: oxbow mcp test ${name}`;
  return { text, value: { name, file, scope } };
}

function writtenServer(args: CommandArguments): WrittenServer {
  const [command = "", ...rest] = args.list("COMMAND");
  const kind = args.flag("transport") ?? (/^https?:\/\//i.test(command) ? "http" : "stdio");
  if (kind === "stdio") {
    if (args.flags("header").length > 0) throw new UsageError("--header is for servers with an address.");
    return { command, args: rest, env: pairs(args.flags("env"), "=") };
  }
  if (kind !== "http" && kind !== "sse") throw new UsageError("--transport is stdio, http or sse.");
  if (!URL.canParse(command)) throw new UsageError(`'${command}' is not an address.`);
  if (rest.length > 0 || args.flags("env").length > 0)
    throw new UsageError("A server with an address has no arguments.");
  return { type: kind, url: command, headers: pairs(args.flags("header"), ":") };
}

function pairs(given: readonly string[], sign: "=" | ":"): Record<string, string> {
  return Object.fromEntries(
    given.map((each) => {
      const at = each.indexOf(sign);
      if (at <= 0) throw new UsageError(`'${each}' is not NAME${sign}VALUE.`);
      return [each.slice(0, at).trim(), each.slice(at + 1).trim()];
    }),
  );
}

async function remove(args: CommandArguments, port: ShellPort): Promise<CommandResult> {
  const name = args.text("NAME") ?? "";
  const scopes = args.flag("scope") === undefined ? (["user", "project"] as const) : [scopeOf(args)];
  const [{ removeFromProject, removeFromSettings }, { KnownTools }] = await Promise.all([
    import("./edit-config.js"),
    import("./known-tools.js"),
  ]);
  for (const scope of scopes) {
    const file = fileOf(scope, port);
    const isGone = await (scope === "user" ? removeFromSettings(file, name) : removeFromProject(file, name));
    if (!isGone) continue;
    // A server that is added under this name later is another one.
    await KnownTools.of(join(port.config, KNOWN_TOOLS_FILE)).forget(file, name);
    return { text: `Removed '${safeLine(name)}' from ${file}.`, value: { name, file } };
  }
  const files = scopes.map((scope) => fileOf(scope, port));
  const where = files.length === 1 ? `${files[0]} names no` : `Neither ${files.join(" nor ")} names a`;
  return refuse(`${where} server '${safeLine(name)}'. See: oxbow mcp list`);
}

async function approveEntry(args: CommandArguments, port: ShellPort): Promise<CommandResult> {
  const name = args.text("NAME") ?? "";
  const approved = await port.approve(name, { version: args.text("VERSION") });
  if ("text" in approved) {
    const text = howToApprove(`oxbow mcp approve ${safeLine(name)}`, approved);
    return { text, value: { name, version: approved.version } };
  }
  const { files } = approved;
  if (files.length === 0) return refuse(`No settings file has an MCP server '${safeLine(name)}'. See: oxbow mcp list`);
  const text = files.map((file) => `Approved '${safeLine(name)}' of ${file}, and its program as it is now.`).join("\n");
  return { text, value: { name, files: [...files] } };
}

export async function findServer(name: string, port: ShellPort) {
  const { servers, problems, off } = await approvedServers(port);
  const found = servers.find(({ config }) => config.name === name);
  if (found !== undefined) return found;
  const why =
    problems.find((problem) => problem.includes(`'${name}'`)) ?? (off.includes(name) ? "It is switched off." : "");
  throw new UsageError(`There is no approved MCP server '${safeLine(name)}'. ${why} See: oxbow mcp list`);
}

async function test(
  args: CommandArguments,
  port: ShellPort,
  { signal, progress }: CommandContext,
): Promise<CommandResult> {
  const chosen = await findServer(args.text("NAME") ?? "", port);
  const { McpServer } = await import("./server.js");
  const server = new McpServer(port.options(chosen));
  const problems = new Set<string>();
  server.watch({ report: (message) => void problems.add(message) });
  progress(`connecting to ${chosen.config.name}`);
  try {
    const connection = await server.ready(signal);
    const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => safeLine(name));
    const tools = namesOf(server.tools);
    const withheld = namesOf(server.withheld);
    const prompts = namesOf(server.prompts);
    const resources = (await connection.resources(signal).catch(() => [])).map(({ uri }) => safeLine(uri));
    const lines = [
      `${safeLine(connection.serverName ?? chosen.config.name)}, protocol ${connection.protocolVersion ?? "unknown"}`,
      `${counted(tools.length, "tool")}${server.isEager ? "" : " (found by search)"}: ${tools.join(", ")}`,
      ...(withheld.length === 0 ? [] : [`${withheld.length} changed since they were approved: ${withheld.join(", ")}`]),
      `${counted(prompts.length, "prompt")}, ${counted(resources.length, "resource")}`,
      ...problems,
    ];
    const value = {
      ...{ name: chosen.config.name, protocol: connection.protocolVersion ?? null },
      ...{ tools, withheld, prompts, resources, problems: [...problems] },
    };
    return { text: safeText(lines.join("\n")), value: asValue(value) };
  } catch (error) {
    const log = (await port.redact())(server.log.text).trim();
    const text = safeText(`${(error as Error).message}${log === "" ? "" : `\n${log}`}`);
    return { text, value: { problem: (error as Error).message }, exitCode: COMMAND_EXIT.failed };
  } finally {
    await server.stop();
  }
}

/** Follows what a person has to see. */
function howToApprove(command: string, { text, version }: { readonly text: string; readonly version: string }): string {
  return `${text}\n\nNothing is approved yet. To approve exactly this, and its program as it is now: ${command} ${version}`;
}
