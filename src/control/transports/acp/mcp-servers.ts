/** MCP servers that the editor hands in. */
import type { McpServer } from "@agentclientprotocol/sdk";
import type { McpServerEntry } from "../../../protocol/commands.js";

export function serverEntry(server: McpServer): McpServerEntry {
  const { name } = server;
  if (!("url" in server)) return { name, command: server.command, args: server.args, env: namedValues(server.env) };
  return { name, type: server.type, url: server.url, headers: namedValues(server.headers) };
}

function namedValues(list: readonly { readonly name: string; readonly value: string }[]): Record<string, string> {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}
