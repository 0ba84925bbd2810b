/** The profile: the TOML file of a person's settings. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { nearest } from "../../base/nearest.js";
import { UsageError } from "../../base/usage-error.js";

export type Profile = Readonly<Record<string, unknown>>;

/** The version of the profile's keys. */
const PROFILE_VERSION = 1;

/** Most machines have no profile, so the parser and the checks load late. */
export async function readProfile(path: string, { required }: { readonly required: boolean }): Promise<Profile> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    if (missing && !required) return {};
    throw new UsageError(`Cannot read the profile ${path}: ${(error as Error).message}`);
  }
  const { parse } = await import("smol-toml");
  let profile: Profile;
  try {
    profile = parse(text);
  } catch (error) {
    throw new UsageError(tomlProblem(path, error));
  }
  checkVersion(profile, path);
  await checkPermissions(profile, path);
  return profile;
}

/** A warning for each key that no setting reads. */
export function unknownKeys(profile: Profile, known: readonly string[], path: string): readonly string[] {
  const keys = ["schema_version", ...known];
  return Object.keys(profile)
    .filter((key) => !keys.includes(key))
    .map((key) => {
      const near = nearest(key, keys);
      return `${path}: unknown key "${key}" is ignored.${near === undefined ? "" : ` Did you mean "${near}"?`}`;
    });
}

/** Names the line and the column, as editors and compilers do. */
function tomlProblem(path: string, error: unknown): string {
  const { line, column, message } = error as { line?: number; column?: number; message: string };
  const place = line === undefined ? "" : `, line ${line}, column ${column ?? 1}`;
  const detail = message.split("\n")[0]?.replace(/^Invalid TOML document: /, "");
  return `${path}${place} is not valid TOML: ${detail}.`;
}

/** A newer profile may contain settings that this program does not know. */
function checkVersion({ schema_version: version }: Profile, path: string): void {
  if (version === undefined || version === PROFILE_VERSION) return;
  throw new UsageError(
    `${path}: schema_version is ${JSON.stringify(version)}, and this Oxbow reads ${PROFILE_VERSION}. Upgrade Oxbow, or write schema_version = ${PROFILE_VERSION}.`,
  );
}

/** An invalid key may be the one that denies, so the run stops. */
async function checkPermissions({ permissions }: Profile, path: string): Promise<void> {
  if (permissions === undefined) return;
  const { parsePermissions } = await import("../../security/permissions/parse-rules.js");
  const { problems } = parsePermissions(permissions, { file: path, scope: "user" }, { home: homedir() });
  if (problems.length > 0) throw new UsageError(problems.join("\noxbow: "));
}
