/** The only reader of the process environment. Everything else gets what it needs as a parameter. */
import { isAbsolute, resolve } from "node:path";
import type { Variables } from "../base/variables.js";

/** They name folders whose content counts as the user's. A relative one would name a folder of the workspace. */
const FOLDERS = ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];

export function environment(): Variables {
  const { env } = process;
  for (const name of FOLDERS) if (!isAbsolute(env[name] ?? "/")) delete env[name];
  // Programs that Oxbow starts elsewhere have to find the same folder.
  if (env.OXBOW_HOME && !isAbsolute(env.OXBOW_HOME)) env.OXBOW_HOME = absolute(env.OXBOW_HOME);
  return env;
}

/** A working directory that does not exist is reported by the command that needs it. */
function absolute(folder: string): string {
  try {
    return resolve(folder);
  } catch {
    return folder;
  }
}
