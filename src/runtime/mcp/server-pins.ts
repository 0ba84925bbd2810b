/** The hashes that belong to the approval of an MCP server. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Variables } from "../../base/variables.js";
import { findCommand, findPins, type PinPlace } from "../../extensions/mcp/program-pins.js";
import { readConfig } from "../../extensions/mcp/read-config.js";
import { isDecidedByFolder } from "../../extensions/mcp/runners.js";
import type { ServerConfig, StdioTransport } from "../../extensions/mcp/server-config.js";
import type { ContentItem } from "../../security/trust/content.js";
import { projectTop } from "../../security/trust/folders.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { homeFolder } from "../../system/xdg-paths.js";

interface ServerFolder {
  readonly folder: string;
  readonly variables: Variables;
}

/** Undefined for a server that is not a program, and for an entry that cannot be read. */
export async function pinsOfEntry(
  item: ContentItem,
  bytes: Uint8Array,
  place: ServerFolder,
): Promise<Readonly<Record<string, string>> | undefined> {
  const config = programOf(item, bytes, place);
  return config && findPins(config.transport, pinPlace(place.folder, place.variables));
}

/** Tells what a server of the project may reach in the network. Undefined where that says nothing: for the user's own servers, and as `pinsOfEntry`. */
export function networkNote(item: ContentItem, bytes: Uint8Array, place: ServerFolder): string | undefined {
  const config = programOf(item, bytes, place);
  if (config === undefined || config.scope !== "project" || config.sandbox === "off") return undefined;
  const { root, base, path } = pinPlace(place.folder, place.variables);
  const program = findCommand(config.transport, { root, base, path });
  if (config.network === "off") return "In a sandbox it runs without network.";
  if (program === undefined) return undefined;
  return isDecidedByFolder(config.transport, { program, root, top: base })
    ? "In a sandbox it runs without network, because it runs code of the project, which can change after your approval."
    : "It has the network.";
}

type ProgramConfig = ServerConfig & { readonly transport: StdioTransport };

function programOf(
  { root, path, entry = "", owner, plugin: name }: ContentItem,
  bytes: Uint8Array,
  { folder, variables }: ServerFolder,
): ProgramConfig | undefined {
  const readFile = (file: string) => {
    try {
      return readFileSync(file, "utf8");
    } catch {
      return undefined;
    }
  };
  const place = { root: realpathOrSelf(folder), home: homeFolder(variables), variables, readFile };
  const plugin = name === undefined ? undefined : { name, root };
  const text = new TextDecoder().decode(bytes);
  const read = readConfig({ path: join(root, path), entry, owner, text, plugin }, place);
  return "config" in read && read.config.transport.kind === "stdio" ? (read.config as ProgramConfig) : undefined;
}

export function pinPlace(folder: string, variables: Variables): PinPlace {
  const root = realpathOrSelf(folder);
  return { root, base: projectTop(root), path: variables.PATH };
}
