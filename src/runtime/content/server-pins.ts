/** The hashes that belong to the approval of an MCP server. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Variables } from "../../base/variables.js";
import { findPins, type PinPlace } from "../../extensions/mcp/program-pins.js";
import { readConfig } from "../../extensions/mcp/read-config.js";
import type { ContentItem } from "../../security/trust/content.js";
import { projectTop } from "../../security/trust/folders.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { homeFolder } from "./home-folder.js";

/** Undefined for a server that is not a program, and for an entry that cannot be read. */
export async function pinsOfEntry(
  { root, path, entry = "", owner, plugin: name }: ContentItem,
  bytes: Uint8Array,
  { folder, variables }: { readonly folder: string; readonly variables: Variables },
): Promise<Readonly<Record<string, string>> | undefined> {
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
  if (!("config" in read) || read.config.transport.kind !== "stdio") return undefined;
  return findPins(read.config.transport, pinPlace(folder, variables));
}

export function pinPlace(folder: string, variables: Variables): PinPlace {
  const root = realpathOrSelf(folder);
  return { root, base: projectTop(root), path: variables.PATH };
}
