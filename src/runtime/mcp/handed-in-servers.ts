/** MCP servers that a client hands in for one session, beside those of files. They count as the user's own: only a person can hand them in. */
import type { ExtensionFile, ExtensionFiles } from "../../base/extension-files.js";
import type { McpServerEntry } from "../../protocol/commands.js";

export function withHandedIn(
  extensions: ExtensionFiles,
  servers: readonly McpServerEntry[] | undefined,
): ExtensionFiles {
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
