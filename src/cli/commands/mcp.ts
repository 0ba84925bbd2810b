/** `oxbow mcp`: adds, lists, tests and removes MCP servers, and signs in to them. */

import { join, resolve } from "node:path";
import { counted } from "../../base/group-digits.js";
import { safeLine, safeText } from "../../base/terminal-text.js";
import { renderTable } from "../../base/text-table.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { MCP_ADD, MCP_APPROVE, MCP_AUTH, MCP_LIST, MCP_REMOVE, MCP_TEST } from "../../commands/catalogue/mcp.js";
import { asValue, COMMAND_EXIT, type Command, type CommandArguments, refuse } from "../../commands/command.js";
import type { ParsedFlags } from "../../commands/flags.js";
import type { WrittenServer } from "../../runtime/mcp/edit-config.js";
import type { ServerPlace } from "../../runtime/mcp/open-server.js";
import { openRoot } from "../../tools/files/workspace-root.js";
import { printMessage } from "../print-message.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "mcp",
  specs: [MCP_LIST, MCP_ADD, MCP_REMOVE, MCP_TEST, MCP_AUTH, MCP_APPROVE],
  about: "Adds, lists, tests and removes MCP servers. In a session: /mcp, /mcp:NAME status.",
  more: "Servers are also read from .mcp.json and from the files of Claude Code, Cursor, VS Code and Codex. Each needs your approval ('oxbow ack').",
  open: async (flags, variables) => {
    const place = await openPlace(flags, variables);
    return {
      commands: [list(place), add(place), remove(place), test(place), approve(place)],
      terminalCommands: [
        {
          ...MCP_AUTH,
          take: async (args) => (await import("./mcp-auth.js")).signInToServer({ args, variables, place }),
        },
      ],
    };
  },
};

export const run = shellRunner(shell);

async function openPlace(flags: ParsedFlags, variables: Variables): Promise<ServerPlace> {
  const { placeSettings } = await import("../../runtime/content/place-settings.js");
  const loaded = await placeSettings(flags, variables, { unapproved: "ignore" });
  const root = await openRoot(resolve(flags.text("cwd") ?? process.cwd()));
  return { loaded, variables, root, notify: (message) => printMessage(message) };
}

/** The approved servers of the place. */
export async function approvedServers(place: ServerPlace) {
  const [{ findExtensions }, { chooseServers }, { configPlace }] = await Promise.all([
    import("../../runtime/content/find-extensions.js"),
    import("../../extensions/mcp/choose-servers.js"),
    import("../../runtime/mcp/open-server.js"),
  ]);
  const found = await findExtensions({
    ...place,
    color: false,
    width: 80,
    skipUnapproved: true,
    allowProjectHooks: true,
    kinds: new Set(["mcp"]),
    notify: () => {},
  });
  return chooseServers(found.files, configPlace(place));
}

function list(place: ServerPlace): Command {
  return {
    ...MCP_LIST,
    run: async (_args, { screen, warn }) => {
      const [{ listExtensions }, { serverNameOf }, chosen] = await Promise.all([
        import("../../runtime/content/list-extensions.js"),
        import("../../extensions/mcp/search-definition.js"),
        approvedServers(place),
      ]);
      for (const problem of chosen.problems) warn(safeLine(problem));
      const { items } = await listExtensions(place);
      const rows = items
        .filter(({ kind }) => kind === "mcp")
        .map(({ entry = "", path, scope, state }) => {
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
      if (rows.length === 0)
        return { text: "There are no MCP servers. Add one: oxbow mcp add NAME -- COMMAND", value: [] };
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
    },
  };
}

/** Keys in addresses are not shown. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function scopeOf(args: CommandArguments): "user" | "project" {
  const scope = args.flag("scope") ?? "user";
  if (scope !== "user" && scope !== "project") throw new UsageError("--scope is user or project.");
  return scope;
}

function fileOf(scope: "user" | "project", { loaded, root }: ServerPlace): string {
  return scope === "user" ? join(loaded.roots.config, "config.toml") : join(root, ".mcp.json");
}

function add(place: ServerPlace): Command {
  return {
    ...MCP_ADD,
    run: async (args) => {
      const name = args.text("NAME") ?? "";
      if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name))
        return refuse("A server's name has letters, digits, - _ and ., and at most 64 characters.");
      const scope = scopeOf(args);
      const file = fileOf(scope, place);
      const server = writtenServer(args);
      const { addToProject, addToSettings } = await import("../../runtime/mcp/edit-config.js");
      await (scope === "user" ? addToSettings(file, name, server) : addToProject(file, name, server));
      // The person has just written it.
      const { approveServer } = await import("../../runtime/mcp/approve-server.js");
      await approveServer(name, place, { path: file });
      const text = `Added '${name}' to ${file}, and approved it as it is now.\nTry it: oxbow mcp test ${name}`;
      return { text, value: { name, file, scope } };
    },
  };
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

function remove(place: ServerPlace): Command {
  return {
    ...MCP_REMOVE,
    run: async (args) => {
      const name = args.text("NAME") ?? "";
      const scopes = args.flag("scope") === undefined ? (["user", "project"] as const) : [scopeOf(args)];
      const [{ removeFromProject, removeFromSettings }, { knownTools }] = await Promise.all([
        import("../../runtime/mcp/edit-config.js"),
        import("../../runtime/mcp/open-server.js"),
      ]);
      for (const scope of scopes) {
        const file = fileOf(scope, place);
        const isGone = await (scope === "user" ? removeFromSettings(file, name) : removeFromProject(file, name));
        if (!isGone) continue;
        // A server that is added under this name later is another one.
        await knownTools(place).forget(file, name);
        return { text: `Removed '${safeLine(name)}' from ${file}.`, value: { name, file } };
      }
      const files = scopes.map((scope) => fileOf(scope, place));
      const where = files.length === 1 ? `${files[0]} names no` : `Neither ${files.join(" nor ")} names a`;
      return refuse(`${where} server '${safeLine(name)}'. See: oxbow mcp list`);
    },
  };
}

function approve(place: ServerPlace): Command {
  return {
    ...MCP_APPROVE,
    run: async (args) => {
      const name = args.text("NAME") ?? "";
      const { approveSeenServer, howToApprove } = await import("../../runtime/mcp/approve-server.js");
      const approved = await approveSeenServer(name, place, { version: args.text("VERSION") });
      if ("text" in approved) {
        const text = howToApprove(`oxbow mcp approve ${safeLine(name)}`, approved);
        return { text, value: { name, version: approved.version } };
      }
      const { files } = approved;
      if (files.length === 0)
        return refuse(`No settings file has an MCP server '${safeLine(name)}'. See: oxbow mcp list`);
      const text = files
        .map((file) => `Approved '${safeLine(name)}' of ${file}, and its program as it is now.`)
        .join("\n");
      return { text, value: { name, files: [...files] } };
    },
  };
}

export async function findServer(name: string, place: ServerPlace) {
  const { servers, problems, off } = await approvedServers(place);
  const found = servers.find(({ config }) => config.name === name);
  if (found !== undefined) return found;
  const why =
    problems.find((problem) => problem.includes(`'${name}'`)) ?? (off.includes(name) ? "It is switched off." : "");
  throw new UsageError(`There is no approved MCP server '${safeLine(name)}'. ${why} See: oxbow mcp list`);
}

function test(place: ServerPlace): Command {
  return {
    ...MCP_TEST,
    run: async (args, { signal, progress }) => {
      const chosen = await findServer(args.text("NAME") ?? "", place);
      const [{ serverOptions }, { McpServer }, { redact }] = await Promise.all([
        import("../../runtime/mcp/open-server.js"),
        import("../../extensions/mcp/server.js"),
        import("../../security/redact/redact.js"),
      ]);
      const server = new McpServer(serverOptions(chosen, place));
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
          ...(withheld.length === 0
            ? []
            : [`${withheld.length} changed since they were approved: ${withheld.join(", ")}`]),
          `${counted(prompts.length, "prompt")}, ${counted(resources.length, "resource")}`,
          ...problems,
        ];
        const value = {
          ...{ name: chosen.config.name, protocol: connection.protocolVersion ?? null },
          ...{ tools, withheld, prompts, resources, problems: [...problems] },
        };
        return { text: safeText(lines.join("\n")), value: asValue(value) };
      } catch (error) {
        const log = redact(server.log.text).trim();
        const text = safeText(`${(error as Error).message}${log === "" ? "" : `\n${log}`}`);
        return { text, value: { problem: (error as Error).message }, exitCode: COMMAND_EXIT.failed };
      } finally {
        await server.stop();
      }
    },
  };
}
