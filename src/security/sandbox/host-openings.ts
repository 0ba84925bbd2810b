/**
 * Finds what a Linux sandbox must hide and show of the running system: programs that listen on sockets, second views of /proc, and what stays
 * visible of /run, which it covers.
 */
import { existsSync, realpathSync } from "node:fs";
import { mountsHere } from "../../system/mounts.js";
import { textAt } from "../../system/names-in.js";
import type { NetworkPolicy } from "./policy.js";

const LISTENING = 0x10000;
/** A datagram socket takes messages without a connection, so the system does not list it as listening: a log, for one. */
const DATAGRAMS = "0002";

/**
 * Sockets in the file system that a program on this machine listens on: a container engine's, a database's, an editor's. A
 * read-only mount does not prevent a connection. Sockets made inside a sandbox belong to its own network and are not
 * in this list.
 */
export function listeningSockets(table: string = textAt("/proc/net/unix")): string[] {
  const paths = new Set<string>();
  for (const line of table.split("\n")) {
    if (!line.includes(" /")) continue;
    // Number: references, protocol, flags, type, state, inode, path
    const [, flags = "0", type, path] = /^\S+ \S+ \S+ ([0-9A-F]+) (\S+) \S+ +\d+ (\/.*)$/.exec(line) ?? [];
    if (path !== undefined && (type === DATAGRAMS || Number.parseInt(flags, 16) & LISTENING)) paths.add(path);
  }
  return [...paths];
}

/** Other mounts of /proc that show processes, as in a container that has its host's /proc. */
export function otherProcesses(table?: string): string[] {
  return mountsHere(table).flatMap(([place, kind]) => (kind === "proc" && place !== "/proc" ? [place] : []));
}

/** Programs are started from these. */
const RUN_FOLDERS = ["/run/current-system", "/run/booted-system", "/run/opengl-driver"];

export function runFolders(network: NetworkPolicy): string[] {
  return [...RUN_FOLDERS, ...nameServers(network)].filter((path) => existsSync(path));
}

/** The list of name servers is often a link to a file below /run. */
function nameServers(network: NetworkPolicy): string[] {
  if (network !== "open") return [];
  try {
    const file = realpathSync("/etc/resolv.conf");
    return file.startsWith("/run/") ? [file] : [];
  } catch {
    return [];
  }
}
