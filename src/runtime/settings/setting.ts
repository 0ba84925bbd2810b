/** One setting and where its value comes from: a flag overrides the environment, the environment the profile, the profile the default. */
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { ParsedFlags } from "../../commands/flags.js";
import type { Profile } from "./profile.js";

export interface Setting<T> {
  readonly value: T;
  /** `--model`, `OXBOW_MODEL`, the profile's path with the key, or `default`. */
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
}

export interface SettingSources {
  readonly flags: ParsedFlags;
  readonly variables: Variables;
  readonly profile: Profile;
  readonly profilePath: string;
}

/** Reads settings from their sources, and remembers which keys a profile may have. */
export class SettingReader {
  readonly #from: SettingSources;
  readonly #keys = new Set<string>();

  constructor(from: SettingSources) {
    this.#from = from;
  }

  /** The keys of the profile that were read. */
  get keys(): readonly string[] {
    return [...this.#keys];
  }

  pick<T>(definition: SettingDefinition<T>): Setting<T> {
    const { key, flag, variable, fallback } = definition;
    const { flags, variables, profile, profilePath } = this.#from;
    this.#keys.add(key);
    if (flag !== undefined && flags.has(flag)) {
      return readAs(definition, flags.text(flag) ?? flags.list(flag).join(","), `--${flag}`);
    }
    const inEnvironment = variable === undefined ? undefined : variables[variable];
    if (variable !== undefined && inEnvironment) return readAs(definition, inEnvironment, variable);
    const written = profile[key];
    if (written === undefined) return { value: fallback, origin: "default" };
    const text = Array.isArray(written) ? written.join(",") : String(written);
    return readAs(definition, text, `${profilePath} (${key})`);
  }

  /** A switch that only the command line has. */
  flag(name: string): Setting<boolean> {
    const isGiven = this.#from.flags.has(name);
    return { value: isGiven, origin: isGiven ? `--${name}` : "default" };
  }

  /** A part of the profile as it was written; its owner checks it. */
  raw(key: string): Setting<unknown> {
    const { profile, profilePath } = this.#from;
    this.#keys.add(key);
    const value = profile[key];
    return { value, origin: value === undefined ? "default" : `${profilePath} (${key})` };
  }

  /** Tables such as `[providers.NAME]`, as they were written. */
  tables(key: string): Setting<unknown> {
    const { value, origin } = this.raw(key);
    if (value === undefined || (typeof value === "object" && !Array.isArray(value))) return { value, origin };
    throw new UsageError(`${origin}: expected tables such as [${key}.NAME].`);
  }
}

function readAs<T>({ read }: SettingDefinition<T>, text: string, origin: string): Setting<T> {
  try {
    return { value: read(text), origin };
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${origin}: ${error.message}`);
    throw error;
  }
}
