/**
 * One setting and where its value comes from: a flag overrides the environment, the environment the files, and a more
 * local file overrides a global one. A file of a project sets only what the definition of the setting allows.
 */
import { parseDuration } from "../base/duration.js";
import type { ExtensionScope } from "../base/extension-files.js";
import { UsageError } from "../base/usage-error.js";
import type { Variables } from "../base/variables.js";
import type { Roots } from "../system/xdg-paths.js";
import type { ParsedFlags } from "./flags.js";

export type Profile = Readonly<Record<string, unknown>>;

/** One file of settings. If several files set a key, the most local one wins. */
export interface Layer {
  readonly scope: ExtensionScope;
  /** The path, or the name of a built-in profile. */
  readonly path: string;
  readonly text: string;
  readonly profile: Profile;
}

export interface Setting<T> {
  readonly value: T;
  /** `--model`, `OXBOW_MODEL`, the path of a file with the key, or `default`. */
  readonly origin: string;
}

export interface SettingDefinition<T> {
  /** The key in the profile. */
  readonly key: string;
  readonly flag?: string;
  readonly variable?: string;
  readonly fallback: T;
  /** Throws a UsageError that says what it expects. */
  readonly read: (text: string) => T;
  /** Whether a project may set it: to any value, or only to one that is as strict as the user's. Absent: not at all. */
  readonly project?: "any" | ((theirs: T, yours: T) => boolean);
}

export interface SettingSources {
  readonly flags: ParsedFlags;
  readonly variables: Variables;
  readonly roots: Pick<Roots, "config">;
  /** The most global first. */
  readonly layers: readonly Layer[];
}

export type ProjectAccess = "any" | "stricter" | "never";

/** Reads settings from their sources, and remembers which keys a profile may have. */
export class SettingReader {
  readonly #from: SettingSources;
  readonly #keys = new Map<string, ProjectAccess>();
  readonly #refused: string[] = [];

  constructor(from: SettingSources) {
    this.#from = from;
  }

  /** The user's configuration folder. */
  get config(): string {
    return this.#from.roots.config;
  }

  /** The keys that a profile may have, and what a project may do with each. */
  get keys(): ReadonlyMap<string, ProjectAccess> {
    return this.#keys;
  }

  /** A warning for each value of a project that is ignored. */
  get refused(): readonly string[] {
    return this.#refused;
  }

  pick<T>(definition: SettingDefinition<T>): Setting<T> {
    const { key, flag, variable, fallback, project } = definition;
    const { flags, variables, layers } = this.#from;
    this.#keys.set(key, project === undefined ? "never" : project === "any" ? "any" : "stricter");
    if (flag !== undefined && flags.has(flag)) {
      return readAs(definition, flags.text(flag) ?? flags.list(flag).join(","), `--${flag}`);
    }
    const inEnvironment = variable === undefined ? undefined : variables[variable];
    if (variable !== undefined && inEnvironment) return readAs(definition, inEnvironment, variable);
    let setting: Setting<T> = { value: fallback, origin: "default" };
    for (const layer of layers) {
      const written = layer.profile[key];
      if (written === undefined) continue;
      if (layer.scope === "project" && project === undefined) {
        this.refuse(layer, key);
        continue;
      }
      const text = Array.isArray(written) ? written.join(",") : String(written);
      const given = readAs(definition, text, originOf(layer, key));
      if (layer.scope !== "project" || project === "any" || project?.(given.value, setting.value)) setting = given;
      else this.refuse(layer, key, `a project may only make it stricter than ${setting.origin}`);
    }
    return setting;
  }

  /** A switch that only the command line has. */
  flag(name: string): Setting<boolean> {
    const isGiven = this.#from.flags.has(name);
    return { value: isGiven, origin: isGiven ? `--${name}` : "default" };
  }

  /** The values of a flag that can be repeated. */
  values(name: string): readonly string[] {
    return this.#from.flags.list(name);
  }

  /** The files that have a key, as they were written, and what a project may do with it; its owner checks it. */
  written(key: string, access: ProjectAccess = "never"): readonly Layer[] {
    this.#keys.set(key, access);
    const layers = this.#from.layers.filter(({ profile }) => profile[key] !== undefined);
    const isRefused = ({ scope }: Layer) => scope === "project" && access === "never";
    for (const layer of layers.filter(isRefused)) this.refuse(layer, key);
    return layers.filter((layer) => !isRefused(layer));
  }

  /** Tables such as `[providers.NAME]`. If two have one name, the more local one wins. */
  tables(key: string): Setting<Readonly<Record<string, unknown>> | undefined> {
    const layers = this.written(key);
    for (const layer of layers) {
      const value = layer.profile[key];
      if (typeof value === "object" && value !== null && !Array.isArray(value)) continue;
      throw new UsageError(`${originOf(layer, key)}: expected tables such as [${key}.NAME].`);
    }
    if (layers.length === 0) return { value: undefined, origin: "default" };
    const value = Object.assign({}, ...layers.map(({ profile }) => profile[key]));
    return { value, origin: layers.map((layer) => originOf(layer, key)).join(", ") };
  }

  refuse(layer: Layer, key: string, why = "only you may set it, not a project"): void {
    this.#refused.push(`${placeOf(layer, key)}: "${key}" is ignored: ${why}.`);
  }
}

export function originOf({ path }: Pick<Layer, "path">, key: string): string {
  return `${path} (${key})`;
}

function readAs<T>({ read }: SettingDefinition<T>, text: string, origin: string): Setting<T> {
  try {
    return { value: read(text), origin };
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${origin}: ${error.message}`);
    throw error;
  }
}

/** The file and the line of a key. */
export function placeOf({ path, text }: Pick<Layer, "path" | "text">, key: string): string {
  const name = key.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const written = new RegExp(`^\\s*(?:\\[+\\s*)?["']?${name}["']?\\s*(?:=|\\.|\\])`);
  const line = text.split("\n").findIndex((each) => written.test(each));
  return line === -1 ? path : `${path}, line ${line + 1}`;
}

// Readers of values; each throws a UsageError that says what it expects.

export function oneOf<T extends string>(...known: readonly T[]): (text: string) => T {
  return (text) => {
    const found = known.find((each) => each === text);
    if (found === undefined) throw new UsageError(`expected ${known.join(", ")}, got "${text}".`);
    return found;
  };
}

export function onOrOff(text: string): boolean {
  if (text === "on" || text === "true") return true;
  if (text === "off" || text === "false") return false;
  throw new UsageError(`expected on or off, got "${text}".`);
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new UsageError(`expected a whole number from 1, got "${text}".`);
  return value;
}

export function wholeNumberOrZero(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new UsageError(`expected a whole number from 0, got "${text}".`);
  return value;
}

/** Words with commas between them. */
export function names(text: string): readonly string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

export function duration(text: string): number {
  const value = parseDuration(text);
  if (value === undefined || value <= 0) {
    throw new UsageError(`expected a duration such as 90s, 5m or 1m30s, got "${text}".`);
  }
  return value;
}

/** A duration; `0` and `off`: none. */
export function limit(text: string): number | undefined {
  if (text === "off") return undefined;
  const value = parseDuration(text);
  if (value === undefined) throw new UsageError(`expected a duration such as 90s, 5m or 1m30s, or off, got "${text}".`);
  return value === 0 ? undefined : value;
}
