/**
 * What the environment of an engine decides, so that a client with another environment can tell its user.
 *
 * 1. A file beside the token of the owner has a salted digest of each variable, never a value. Secrets that a person has to remember are
 *    left out, because a digest would help to guess them.
 * 2. The model, the provider, the profile and the effort are no part of it: a client asks for them itself.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Variables } from "../base/variables.js";
import type { Roots } from "../system/xdg-paths.js";
import { CONTROL_ENVIRONMENT } from "./control-names.js";

const OF_PROVIDERS = /_(API_KEY|BASE_URL)$/;
const OTHERS: ReadonlySet<string> = new Set([
  ..."OPENAI_RESPONSES_URL COPILOT_GITHUB_TOKEN OLLAMA_HOST OXBOW_MAX_TURNS OXBOW_SESSIONS OXBOW_STORE OXBOW_CATALOGUE_URL".split(
    " ",
  ),
  ..."HTTPS_PROXY HTTP_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE NODE_EXTRA_CA_CERTS".split(" "),
]);

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
  return Object.entries(variables).flatMap(([name, value]) => {
    const isMeant = OF_PROVIDERS.test(name) || OTHERS.has(name.toUpperCase());
    return isMeant && value !== undefined && value !== "" ? [[name, withoutPassword(value)] as const] : [];
  });
}

/** Of a proxy. */
function withoutPassword(value: string): string {
  return value.replace(/\/\/[^/@]*@/, "//");
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
