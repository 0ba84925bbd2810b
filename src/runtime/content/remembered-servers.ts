/**
 * The approved MCP servers of a place, as the last search found them: a start whose files are unchanged names them without a search.
 *
 * 1. Only names come from here. Before anything of a server is read or started, the full search reads and checks the files.
 * 2. A record counts only while the same files exist, unchanged by their inode, size and times, and so do the approvals.
 * 3. Only a search that found every server approved and usable leaves a record.
 */
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ExtensionFile } from "../../base/extension-files.js";
import { VERSION } from "../../base/version.js";
import { type PathInUse, pathsInUse } from "../../security/trust/may-hold-content.js";
import { discoverOptions, type ProjectContentOptions } from "./content-options.js";

type Described = Pick<ExtensionFile, "scope" | "path" | "entry" | "source" | "name" | "executable" | "sha256">;

interface Stored {
  readonly stamp: string;
  readonly servers: readonly Described[];
}

/** The full search. */
export interface CheckedServers {
  of(kind: "mcp"): readonly ExtensionFile[];
  check(): Promise<void>;
}

const SERVERS = new Set(["mcp"] as const);
/** Clocks of file systems tick every few milliseconds. */
const TICK_MS = 20;

/** The state of all files that decide which servers there are; undefined while one of them is being written. */
export function serversStamp(options: ProjectContentOptions, given?: readonly PathInUse[]): string | undefined {
  const { loaded, variables } = options;
  const found = discoverOptions({ ...options, kinds: SERVERS });
  const files = (given ?? [...pathsInUse(found)]).filter(({ kinds }) => kinds.includes("mcp"));
  const lock = join(loaded.roots.config, "approved.lock");
  const portable = variables.OXBOW_APPROVED_LOCK;
  const paths = [...files.map(({ path }) => path), lock, ...(portable ? [portable] : [])];
  const before = Date.now() - TICK_MS;
  const states: string[] = [];
  for (const path of paths) {
    const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
    if (stat === undefined || Number(stat.ctimeMs) > before) return undefined;
    states.push([path, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs, stat.mode, stat.uid].join(" "));
  }
  return [VERSION, found.folder, found.home.config, found.home.user, found.profile, ...states].join("\n");
}

export function rememberedServers(options: ProjectContentOptions, used: readonly PathInUse[]): Stored | undefined {
  try {
    const stored = JSON.parse(readFileSync(fileOf(options), "utf8")) as Stored;
    return stored.stamp === serversStamp(options, used) ? stored : undefined;
  } catch {
    return undefined;
  }
}

/** A record that cannot be written only costs time at the next start. */
export function rememberServers(options: ProjectContentOptions, stamp: string, files: readonly ExtensionFile[]): void {
  const servers = files.map(({ scope, path, entry, source, name, executable, sha256 }): Described => {
    return { ...{ scope, path, source, name, executable, sha256 }, ...(entry !== undefined && { entry }) };
  });
  const file = fileOf(options);
  const stored: Stored = { stamp, servers };
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const temporary = `${file}.${process.pid}`;
    writeFileSync(temporary, JSON.stringify(stored), { mode: 0o600 });
    renameSync(temporary, file);
  } catch {}
}

/** As a file of the place. Reading it does the full search first. */
export function asExtension(server: Described, search: CheckedServers): ExtensionFile {
  const isSame = ({ path, entry, sha256 }: ExtensionFile) =>
    path === server.path && entry === server.entry && sha256 === server.sha256;
  const checked = () => search.of("mcp").find((file) => file !== own && isSame(file));
  const own: ExtensionFile = {
    ...server,
    kind: "mcp",
    read: async () => {
      await search.check();
      const file = checked();
      if (file === undefined) throw new Error(`${server.path} has changed since it was approved.`);
      return file.read();
    },
    program: async () => {
      throw new Error("an entry is not a program");
    },
    pins: () => checked()?.pins?.(),
  };
  return own;
}

function fileOf({ loaded, root }: ProjectContentOptions): string {
  return join(loaded.roots.state, "servers", `${hashOf(root)}.json`);
}

/** FNV-1a: two places with one name only replace each other's record. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}
