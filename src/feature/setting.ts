/**
 * One setting and where its value comes from: a flag overrides the environment, the environment the files, and a more
 * local file overrides a global one. A file of a project sets only what the definition of the setting allows.
 */
import { shorten } from "../base/cap-text.js";
import { formatDuration } from "../base/duration.js";
import type { ExtensionScope } from "../base/extension-files.js";
import { oneOf, type Reader } from "../base/read-value.js";
import { UsageError } from "../base/usage-error.js";
import type { Variables } from "../base/variables.js";
import type { Roots } from "../system/xdg-paths.js";
import type { Flag, ParsedFlags } from "./flags.js";

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

/** The rights of a project to a setting. */
export type ProjectAccess = "any" | "stricter" | "never";

/**
 * A setting, declared once by its feature. The key is its name in the record of the feature. The reader, the flags, the variables, the help
 * and docs/reference.md come from here.
 */
export interface DeclaredSetting<T> {
  /** Says what it does; absent: files cannot set it. */
  readonly about?: string | undefined;
  /** The guide that explains it, without `.md`. */
  readonly guide?: string | undefined;
  readonly access: ProjectAccess;
  /** Says what it holds for, if several terminals share an engine; default: the session. */
  readonly holds?: Flag["holds"];
  readonly flags: (key: string) => readonly Flag[];
  readonly variable?: Variable | undefined;
  /** The slash command that changes it in a running session. */
  readonly command?: string | undefined;
  /** Absent: only a person writes it into a file. */
  readonly read?: Reader<unknown> | undefined;
  show(value: T): string;
  take(from: SettingReader, key: string): Setting<T> | Promise<Setting<T>>;
}

export interface Variable {
  readonly name: string;
  readonly meaning: string;
}

/** The flag of a setting; without a name it has that of the key. */
export type SettingFlag = Omit<Flag, "name" | "holds"> & { readonly name?: string };

/** Declared settings of any values. */
// biome-ignore lint/suspicious/noExplicitAny: a value is read and shown by one declaration, so its type stays inside.
export type DeclaredSettings = Readonly<Record<string, DeclaredSetting<any>>>;

/** The values of declared settings. */
export type SettingsOf<Declared> = {
  readonly [Key in keyof Declared]: Declared[Key] extends DeclaredSetting<infer T> ? Setting<T> : never;
};

interface Definition<T>
  extends Partial<Pick<DeclaredSetting<T>, "about" | "guide" | "holds" | "variable" | "command">> {
  readonly show?: (value: NoInfer<T>) => string;
  readonly flag?: SettingFlag;
  /** Throws a UsageError that says what it expects. */
  readonly read: Reader<T>;
  /** Says whether a project may set it: to any value, or only to one that is as strict as the user's. Absent: not at all. */
  readonly project?: "any" | ((theirs: NoInfer<T>, yours: NoInfer<T>) => boolean);
}

/** Declares a setting with one text: a flag overrides the variable, the variable the files. Without a fallback it may be undefined. */
export function setting<T>(definition: Definition<T> & { readonly fallback: NoInfer<T> }): DeclaredSetting<T>;
export function setting<T>(definition: Definition<T | undefined>): DeclaredSetting<T | undefined>;
export function setting<T>(definition: Definition<T> & { readonly fallback?: T }): DeclaredSetting<T | undefined> {
  const { flag, project, read, fallback, show = shown, ...declared } = definition;
  return {
    ...declared,
    read,
    show,
    access: project === undefined ? "never" : project === "any" ? "any" : "stricter",
    flags: (key) => (flag === undefined ? [] : [flagOf(key, flag, declared.holds)]),
    take: (from, key) => {
      const name = flag && flagOf(key, flag, undefined).name;
      const variable = declared.variable?.name;
      return from.pick<T | undefined>({ key, flag: name, variable, fallback, read, project: project as never });
    },
  };
}

type Choice<T> = Omit<Definition<T>, "read">;

/** Declares a setting with one of a few values. */
export function choice<T extends string>(
  known: readonly T[],
  definition: Choice<NoInfer<T>> & { readonly fallback: NoInfer<T> },
): DeclaredSetting<T>;
export function choice<T extends string>(
  known: readonly T[],
  definition: Choice<NoInfer<T> | undefined>,
): DeclaredSetting<T | undefined>;
export function choice<T extends string>(known: readonly T[], definition: Choice<T>): DeclaredSetting<T | undefined> {
  const flag = definition.flag && { choices: known, ...definition.flag };
  return setting<T | undefined>({ ...definition, ...(flag && { flag }), read: oneOf(...known) } as Definition<
    T | undefined
  >);
}

/** Declares tables such as `[providers.NAME]`, which their owner checks. */
export function tables(
  declared: Pick<DeclaredSetting<unknown>, "about" | "guide" | "holds">,
): DeclaredSetting<Readonly<Record<string, unknown>> | undefined> {
  return { ...declared, access: "never", flags: () => [], show: shown, take: (from, key) => from.tables(key) };
}

/** Declares a switch that only the command line has. */
export function switchOf(help: string): DeclaredSetting<boolean> {
  const name = (key: string) => key.replaceAll("_", "-");
  return {
    access: "never",
    flags: (key) => [{ name: name(key), help }],
    show: shown,
    take: (from, key) => from.flag(name(key)),
  };
}

export function flagsOf(declared: DeclaredSettings): readonly Flag[] {
  return Object.entries(declared).flatMap(([key, { flags }]) => flags(key));
}

/** Reads declared settings, in their order. */
export async function readSettings<D extends DeclaredSettings>(
  declared: D,
  from: SettingReader,
): Promise<SettingsOf<D>> {
  const read: Record<string, Setting<unknown>> = {};
  for (const [key, each] of Object.entries(declared)) {
    read[key] = await each.take(from, key);
  }
  return read as SettingsOf<D>;
}

function flagOf(key: string, flag: SettingFlag, holds: Flag["holds"]): Flag {
  return { name: key.replaceAll("_", "-"), ...flag, ...(holds && { holds }) };
}

/** Writes a value for people, on one line. */
export function shown(value: unknown): string {
  if (value === undefined) return "(none)";
  if (Array.isArray(value)) return value.join(",");
  if (value instanceof URL) return value.href;
  if (value instanceof Map) return [...value.keys()].join(",");
  if (typeof value === "object" && value !== null) return Object.keys(value).join(",");
  return shorten(String(value).replaceAll("\n", "⏎"), 60);
}

/** Writes a number of milliseconds for people. */
export const shownTime = (value: number | undefined): string =>
  value === undefined || !Number.isFinite(value) ? shown(value) : formatDuration(value);

/** A setting that is one text in each place. */
export interface TextSetting<T> {
  readonly key: string;
  readonly flag?: string | undefined;
  readonly variable?: string | undefined;
  readonly fallback: T;
  readonly read: (text: string) => T;
  readonly project?: Definition<T>["project"] | undefined;
}

export interface SettingSources {
  readonly flags: ParsedFlags;
  readonly variables: Variables;
  readonly roots: Pick<Roots, "config">;
  /** The most global first. */
  readonly layers: readonly Layer[];
}

/** Reads settings from their sources. */
export class SettingReader {
  readonly #from: SettingSources;
  readonly #refused = new Set<string>();

  constructor(from: SettingSources) {
    this.#from = from;
  }

  /** The user's configuration folder. */
  get config(): string {
    return this.#from.roots.config;
  }

  /** A warning for each value of a project that is ignored. */
  get refused(): readonly string[] {
    return [...this.#refused];
  }

  pick<T>(definition: TextSetting<T>): Setting<T> {
    const { key, flag, variable, fallback, project } = definition;
    const { flags, variables, layers } = this.#from;
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

  /** The files that have a key, as they were written; its owner checks it. Those of projects only if they may set it. */
  written(key: string, access: ProjectAccess = "never"): readonly Layer[] {
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
    this.#refused.add(`${placeOf(layer, key)}: "${key}" is ignored: ${why}.`);
  }
}

export function originOf({ path }: Pick<Layer, "path">, key: string): string {
  return `${path} (${key})`;
}

function readAs<T>({ read }: TextSetting<T>, text: string, origin: string): Setting<T> {
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
