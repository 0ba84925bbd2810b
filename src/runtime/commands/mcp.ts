/** `/mcp`, `/mcp:SERVER status|restart|approve|logs`, and `/mcp:SERVER:PROMPT` for each prompt of a server. */

import { wordsIn } from "../../base/shell-word.js";
import { safeLine, safeText } from "../../base/terminal-text.js";
import { renderTable } from "../../base/text-table.js";
import { MCP_APPROVE, MCP_LIST, MCP_RESTART } from "../../commands/catalogue/mcp.js";
import { asValue, type Command, type CommandContext, type CommandResult, refuse } from "../../commands/command.js";
import type { ServerPrompt } from "../../extensions/mcp/connection.js";
import type { McpServer } from "../../extensions/mcp/server.js";
import { shortName, toolName } from "../../extensions/mcp/tool-names.js";
import { contentOf } from "../../extensions/mcp/tool-result.js";
import { text } from "../../protocol/content.js";
import { redact } from "../../security/redact/redact.js";
import { approveSeenServer, howToApprove, type SeenApproval } from "../mcp/approve-server.js";
import type { SessionServers } from "../mcp/session-servers.js";
import type { Opening } from "../opening.js";
import { hookedPrompt } from "./prompt-expansion.js";

const TAKEN: ReadonlySet<string> = new Set(["list", "add", "remove", "test", "auth", "approve", "restart"]);
const ACTIONS = ["status", "restart", "approve", "logs"] as const;

export function mcpCommands(opening: Opening, servers: SessionServers | undefined): readonly Command[] {
  const list: Command = { ...MCP_LIST, run: (_args, context) => listing(servers, context) };
  const approve: Command = {
    ...MCP_APPROVE,
    run: async (args) => {
      const name = args.text("NAME") ?? "";
      return approveNamed(name, { opening, servers, version: args.text("VERSION"), command: `/mcp:approve ${name}` });
    },
  };
  const again: Command = {
    ...MCP_RESTART,
    run: async (args, context) => {
      const name = args.text("NAME") ?? "";
      const server = servers?.named(name);
      return server === undefined
        ? refuse(`There is no MCP server '${safeLine(name)}'. /mcp lists them.`)
        : restart(server, context);
    },
  };
  if (servers === undefined) return [list, approve, again];
  return [
    list,
    approve,
    again,
    ...servers.servers.flatMap((server) => [
      serverCommand(server, { opening, servers }),
      ...server.prompts.slice(0, MOST_PROMPTS).map((prompt) => promptCommand(server, prompt, { opening, servers })),
    ]),
  ];
}

const MOST_PROMPTS = 100;

interface Place {
  readonly opening: Opening;
  readonly servers: SessionServers;
}

function commandName({ config }: McpServer): string {
  const name = shortName(config.name);
  return TAKEN.has(name) ? `mcp:${name}_` : `mcp:${name}`;
}

function serverCommand(server: McpServer, place: Place): Command {
  const name = commandName(server);
  return {
    name,
    summary: `show, restart or approve the MCP server ${safeLine(server.config.name)}`,
    usage: `/${name} [${ACTIONS.join("|")}]`,
    arguments: [
      { name: "ACTION", kind: "choice", optional: true, complete: ACTIONS },
      { name: "VERSION", kind: "text", optional: true },
    ],
    users: ["people"],
    places: ["during a turn", "between turns"],
    reaches: "user",
    run: async (args, context) => {
      switch (args.text("ACTION") ?? "status") {
        case "restart":
          return restart(server, context);
        case "approve":
          return approveNamed(server.config.name, {
            ...place,
            version: args.text("VERSION"),
            command: `/${name} approve`,
          });
        case "logs":
          return { text: redact(server.log.text) || "Nothing was logged.", value: { log: redact(server.log.text) } };
        default:
          return status(server);
      }
    },
  };
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
  readonly opening: Opening;
  readonly servers: SessionServers | undefined;
  /** Of what the person has seen. */
  readonly version: string | undefined;
  /** What to type, without the version. */
  readonly command: string;
}

/** Shows the entry and the changed tools first; then, with their version, approves them and the program. */
async function approveNamed(
  name: string,
  { opening: { engine, extensions, root }, servers, version, command }: NamedApproval,
): Promise<CommandResult> {
  const server = servers?.named(name);
  const more = server?.describeWithheld() ?? "";
  const { loaded, variables } = engine;
  let approved: SeenApproval;
  try {
    approved = await approveSeenServer(name, { loaded, variables, root }, { version, more });
  } catch (error) {
    return refuse((error as Error).message);
  }
  if ("text" in approved)
    return { text: howToApprove(safeLine(command), approved), value: { name, version: approved.version } };
  const { files } = approved;
  if (files.length === 0 && server === undefined)
    return refuse(`No settings file has an MCP server '${safeLine(name)}'.`);
  await extensions.refresh("files");
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

function listing(servers: SessionServers | undefined, { screen }: Pick<CommandContext, "screen">): CommandResult {
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

function promptCommand(server: McpServer, prompt: ServerPrompt, { opening, servers }: Place): Command {
  const name = `${commandName(server)}:${safeName(prompt.name)}`;
  const hint = (prompt.arguments ?? []).map(({ name: each, required }) => (required ? each : `[${each}]`)).join(" ");
  return {
    name,
    summary: safeLine(prompt.description ?? `a prompt of ${server.config.name}`).slice(0, 200),
    usage: `/${name} ${safeLine(hint)}`.trimEnd(),
    arguments: [{ name: "ARGUMENTS", kind: "line", optional: true, rest: "text" }],
    users: ["people"],
    places: ["between turns"],
    reaches: "user",
    withColons: true,
    run: async (args, context) => {
      const line = args.text("ARGUMENTS") ?? "";
      const expand = () => usePrompt(line, { server, prompt, servers, context, name });
      const named = { name: toolName(server.config.name, prompt.name), typed: name, line };
      const events = opening.built.get("events");
      return hookedPrompt({ ...named, type: "mcp_prompt", source: "mcp", signal: context.signal }, { events, expand });
    },
  };
}

interface PromptUse {
  readonly server: McpServer;
  readonly prompt: ServerPrompt;
  readonly servers: SessionServers;
  readonly context: CommandContext;
  readonly name: string;
}

async function usePrompt(line: string, { server, prompt, servers, context, name }: PromptUse): Promise<CommandResult> {
  const { wrap, user } = servers.toolPlace;
  const given = promptArguments(line, prompt);
  const missing = (prompt.arguments ?? []).filter(({ name: each, required }) => required && given[each] === undefined);
  if (missing.length > 0) return refuse(`/${name} needs ${missing.map((each) => safeLine(each.name)).join(", ")}.`);
  try {
    const connection = await server.ready(context.signal);
    const messages = await server.with(user, () => connection.prompt(prompt.name, given, context.signal));
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
