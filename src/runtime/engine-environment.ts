/**
 * The variables that hold for a whole engine, so that a client with others can tell its user. A file beside the token of the owner has a
 * salted digest of each, never a value. Everything else in the environment belongs to a session: its client brings it.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CONTROL_ENVIRONMENT } from "../base/control-names.js";
import type { Variables } from "../base/variables.js";
import type { Roots } from "../system/xdg-paths.js";

export const OF_ENGINE = ["OXBOW_SESSIONS", "OXBOW_STORE", "OXBOW_LOG", "NODE_EXTRA_CA_CERTS"];

type Kept = { readonly salt: string; readonly digests: Readonly<Record<string, string>> };

export async function keepEnvironment({ state }: Pick<Roots, "state">, variables: Variables): Promise<void> {
  const { writePrivateFile } = await import("../control/auth/private-file.js");
  const salt = randomBytes(16).toString("hex");
  const digests = Object.fromEntries(named(variables).map(([name, value]) => [name, digest(salt, value)]));
  await writePrivateFile(join(state, CONTROL_ENVIRONMENT), `${JSON.stringify({ salt, digests })}\n`);
}

/** The variables of this process that the engine does not have, or has with another value. Empty if the engine is older than the file. */
export function unlikeEngine({ state }: Pick<Roots, "state">, variables: Variables): readonly string[] {
  const kept = read(join(state, CONTROL_ENVIRONMENT));
  if (kept === undefined) return [];
  return named(variables).flatMap(([name, value]) => (kept.digests[name] === digest(kept.salt, value) ? [] : [name]));
}

function named(variables: Variables): readonly (readonly [string, string])[] {
  return OF_ENGINE.map((name) => [name, variables[name] ?? ""]);
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
