/** The only reader of the process environment. Everything else gets what it needs as a parameter. */
import { isAbsolute } from "node:path";
import type { Variables } from "../base/variables.js";

/** They name folders whose content counts as the user's. A relative one would name a folder of the workspace. */
const FOLDERS = ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];

export function environment(): Variables {
  for (const name of FOLDERS) if (!isAbsolute(process.env[name] ?? "/")) delete process.env[name];
  return process.env;
}
