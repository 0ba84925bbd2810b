/**
 * The servers of a place: one of each name.
 *
 * 1. The user's servers for this project come before those of the project, and those before the user's others.
 * 2. An entry that is switched off hides the ones behind it. An entry that cannot be used hides nothing.
 */
import type { ExtensionFile } from "../../base/extension-files.js";
import { type ConfigPlace, readConfig } from "./read-config.js";
import type { ServerConfig } from "./server-config.js";

/** A server, and the approved entry that names it. */
export interface ChosenServer {
  readonly config: ServerConfig;
  /** Changes with the entry. */
  readonly version: string;
  /** The hashes of its program at the time of the approval, by path; undefined if there are none. */
  pins(): Readonly<Record<string, string>> | undefined;
}

export interface ChosenServers {
  readonly servers: readonly ChosenServer[];
  readonly problems: readonly string[];
  /** Servers that a more local one of the same name hides. */
  readonly hidden: readonly { readonly name: string; readonly path: string; readonly by: string }[];
  /** Names that are switched off. */
  readonly off: readonly string[];
}

export async function chooseServers(files: readonly ExtensionFile[], place: ConfigPlace): Promise<ChosenServers> {
  const problems: string[] = [];
  const byName = new Map<string, { readonly server?: ChosenServer; readonly path: string }>();
  const hidden: { name: string; path: string; by: string }[] = [];
  for (const file of inOrder(files)) {
    const { path, entry = "", scope, plugin: owner, source } = file;
    const plugin = owner === undefined ? undefined : { name: owner, root: source };
    let text: string;
    try {
      text = await file.read();
    } catch (error) {
      problems.push((error as Error).message);
      continue;
    }
    const read = readConfig({ path, entry, owner: scope === "project" ? "project" : "user", text, plugin }, place);
    if ("problem" in read) {
      problems.push(`The MCP server '${read.name}' in ${path} is left out: ${read.problem}.`);
      continue;
    }
    const name = "off" in read ? read.name : read.config.name;
    const before = byName.get(name);
    if (before?.server !== undefined) hidden.push({ name, path: before.path, by: path });
    if ("off" in read) byName.set(name, { path });
    else byName.set(name, { path, server: { config: read.config, version: file.sha256, pins: () => file.pins?.() } });
  }
  const chosen = [...byName.values()];
  return {
    servers: chosen
      .flatMap(({ server }) => server ?? [])
      .sort((one, other) => (one.config.name < other.config.name ? -1 : 1)),
    problems,
    hidden,
    off: [...byName].filter(([, { server }]) => server === undefined).map(([name]) => name),
  };
}

/** The most global first; the files come so, but for the user's entries for one project. */
function inOrder(files: readonly ExtensionFile[]): readonly ExtensionFile[] {
  const isLocal = ({ entry = "" }: ExtensionFile) => entry.startsWith("projects.");
  return [...files.filter((file) => !isLocal(file)), ...files.filter(isLocal)];
}
