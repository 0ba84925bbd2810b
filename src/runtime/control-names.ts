/** The files of the control socket in the state folder. The start of the program reads this, so it loads nothing else. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Roots } from "../system/xdg-paths.js";

export const CONTROL_SOCKET = "control.sock";
export const CONTROL_TOKEN = "control.token";
export const CONTROL_LOCK = "control.lock";
export const CONTROL_ENVIRONMENT = "control.environment";

/** False: certainly not. A lock that is there may be left over from a process that has ended. */
export function mayHaveEngine({ state }: Pick<Roots, "state">): boolean {
  return lstatSync(join(state, CONTROL_LOCK), { throwIfNoEntry: false }) !== undefined;
}
