/**
 * Describes what holds for a whole engine, variables and settings, so that a client with others can tell its user. A file beside the token of the owner
 * has a salted digest of each, never a value. Everything else belongs to a session: its client brings it.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CONTROL_ENVIRONMENT } from "../base/control-names.js";
import type { Variables } from "../base/variables.js";
import type { DeclaredSettings } from "../feature/setting.js";
import type { Roots } from "../system/xdg-paths.js";
import { SETTINGS, type Settings } from "./settings/settings.js";

const SETTINGS_OF_ENGINE = Object.entries(SETTINGS as DeclaredSettings).filter(([, { holds }]) => holds === "engine");

/** The setting of a variable. */
const SETS = new Map(SETTINGS_OF_ENGINE.flatMap(([key, { variable }]) => (variable ? [[variable.name, key]] : [])));

export const OF_ENGINE = ["OXBOW_SESSIONS", "NODE_EXTRA_CA_CERTS", ...SETS.keys()];

type Kept = { readonly salt: string; readonly digests: Readonly<Record<string, string>> };
type OfEngine = Partial<Settings>;

export async function keepEnvironment(
  { state }: Pick<Roots, "state">,
  variables: Variables,
  settings: OfEngine = {},
): Promise<void> {
  const { writePrivateFile } = await import("../control/auth/private-file.js");
  const salt = randomBytes(16).toString("hex");
  const held = [...named(variables), ...chosen(settings)];
  const digests = Object.fromEntries(held.map(([name, value]) => [name, digest(salt, value)]));
  await writePrivateFile(join(state, CONTROL_ENVIRONMENT), `${JSON.stringify({ salt, digests })}\n`);
}

/**
 * The variables and settings of this process that the engine does not have, or has with another value. Empty if the engine is older than the
 * file. What a flag of the engine set holds for all.
 */
export function unlikeEngine(
  { state }: Pick<Roots, "state">,
  variables: Variables,
  settings: OfEngine = {},
): readonly string[] {
  const kept = read(join(state, CONTROL_ENVIRONMENT));
  if (kept === undefined) return [];
  const { salt, digests } = kept;
  const differs = ([name, value]: readonly [string, string]) => digests[name] !== digest(salt, value);
  const ofVariables = named(variables).filter(differs);
  const ofSettings = chosen(settings).filter((each) => each[0] in digests && differs(each));
  const names = [...ofVariables, ...ofSettings].map(([name]) => name);
  return names.filter((name) => !names.some((other) => SETS.get(other) === name));
}

function named(variables: Variables): readonly (readonly [string, string])[] {
  return OF_ENGINE.map((name) => [name, variables[name] ?? ""]);
}

/** Those that no flag sets. */
function chosen(settings: OfEngine): readonly (readonly [string, string])[] {
  return SETTINGS_OF_ENGINE.flatMap(([key]) => {
    const { value, origin } = settings[key as keyof Settings] ?? { value: undefined, origin: "--" };
    return origin.startsWith("--") ? [] : [[key, JSON.stringify(value, entries) ?? ""]];
  });
}

function entries(_key: string, value: unknown): unknown {
  return value instanceof Map ? [...value] : value;
}

function digest(salt: string, value: string): string {
  return createHash("sha256").update(`${salt}\n${value}`).digest("hex").slice(0, 32);
}

function read(path: string): Kept | undefined {
  try {
    const { salt, digests } = JSON.parse(readFileSync(path, "utf8")) as Partial<Kept>;
    return typeof salt === "string" && typeof digests === "object" && digests !== null ? { salt, digests } : undefined;
  } catch {
    return undefined;
  }
}
