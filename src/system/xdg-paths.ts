/** Oxbow's folders. `OXBOW_HOME` moves all the roots under one folder, for tests and portable installs. */

import { homedir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { Variables } from "../base/variables.js";

export interface HomeVariables {
  readonly OXBOW_HOME?: string | undefined;
  readonly XDG_CONFIG_HOME?: string | undefined;
  readonly XDG_DATA_HOME?: string | undefined;
  readonly XDG_STATE_HOME?: string | undefined;
  readonly XDG_CACHE_HOME?: string | undefined;
}

export interface Roots {
  readonly config: string;
  readonly data: string;
  readonly state: string;
  /** For data that can be fetched again. */
  readonly cache: string;
}

/** An empty HOME must not turn the current folder into the user's. */
function home(): string {
  const named = homedir();
  return isAbsolute(named) ? named : userInfo().homedir;
}

export function roots(variables: HomeVariables): Roots {
  const { OXBOW_HOME } = variables;
  if (OXBOW_HOME) {
    const inHome = (name: string) => resolve(OXBOW_HOME, name);
    return { config: inHome("config"), data: inHome("data"), state: inHome("state"), cache: inHome("cache") };
  }
  const under = (variable: string | undefined, ...fallback: string[]) =>
    join(variable && isAbsolute(variable) ? variable : join(home(), ...fallback), "oxbow");
  return {
    config: under(variables.XDG_CONFIG_HOME, ".config"),
    data: under(variables.XDG_DATA_HOME, ".local", "share"),
    state: under(variables.XDG_STATE_HOME, ".local", "state"),
    cache: under(variables.XDG_CACHE_HOME, ".cache"),
  };
}

/** Finds where other tools keep content of the user; undefined if it is not known. */
export function homeFolder(variables: Variables): string | undefined {
  return variables.HOME || variables.USERPROFILE || undefined;
}
