/** What stays visible of /run, which the sandbox covers. */
import { existsSync, realpathSync } from "node:fs";
import type { NetworkPolicy } from "./policy.js";

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
