/** Commands about MCP servers. */
import type { CommandSpec } from "../command.js";
import type { Flag } from "../flags.js";

export const MCP_NAMESPACE = { mcp: "add, list, test and remove MCP servers" };

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

export const MCP_LIST: CommandSpec = {
  name: "mcp:list",
  aliases: ["mcp"],
  summary: "list the MCP servers, where they are named and what state they are in",
  shellFlags: [CWD],
  users: ["people", "agents"],
  reaches: "user",
  places: ["during a turn", "between turns", "without a session"],
};

export const MCP_ADD: CommandSpec = {
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
  users: ["people"],
  reaches: "user",
  places: ["without a session"],
};

export const MCP_REMOVE: CommandSpec = {
  name: "mcp:remove",
  summary: "remove an MCP server that 'oxbow mcp add' added",
  arguments: [{ name: "NAME", kind: "text", missing: "Name the server." }],
  flags: [SCOPE],
  shellFlags: [CWD],
  users: ["people"],
  reaches: "user",
  places: ["without a session"],
};

export const MCP_TEST: CommandSpec = {
  name: "mcp:test",
  summary: "connect to an MCP server and list what it offers",
  arguments: [{ name: "NAME", kind: "text", missing: "Name the server." }],
  shellFlags: [CWD],
  users: ["people"],
  reaches: "user",
  places: ["without a session"],
};

export const MCP_AUTH: CommandSpec = {
  name: "mcp:auth",
  summary: "sign in to an MCP server; the tokens stay in the credential helper",
  arguments: [{ name: "NAME", kind: "text", missing: "Name the server." }],
  flags: [
    { name: "scope", value: "SCOPES", help: "what to request, instead of what the server names" },
    { name: "no-browser", help: "do not open a browser; show the address only" },
    { name: "remove", help: "forget the sign-in" },
  ],
  shellFlags: [CWD],
  users: ["people"],
  reaches: "user",
  places: ["without a session"],
};

export const MCP_RESTART: CommandSpec = {
  name: "mcp:restart",
  summary: "start an MCP server again",
  arguments: [{ name: "NAME", kind: "text", missing: "Name the server." }],
  users: ["people"],
  reaches: "user",
  places: ["during a turn", "between turns"],
};

export const MCP_APPROVE: CommandSpec = {
  name: "mcp:approve",
  summary:
    "show an MCP server's entry and changed tools; with the VERSION shown, approve them and its program as they are now",
  arguments: [
    { name: "NAME", kind: "text", missing: "Name the server." },
    { name: "VERSION", kind: "text", optional: true },
  ],
  shellFlags: [CWD],
  users: ["people"],
  reaches: "user",
  places: ["between turns", "without a session"],
};
