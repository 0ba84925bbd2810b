/** A file of settings. */
import { UsageError } from "../base/usage-error.js";
import { readRegularTextSync } from "../system/regular-file.js";
import type { Layer, Profile } from "./setting.js";

/** The version of the profile's keys. */
const PROFILE_VERSION = 1;

/** Undefined if there is no such file. */
export async function readLayer(path: string): Promise<Layer | undefined> {
  let text: string;
  try {
    text = readRegularTextSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new UsageError(`Cannot read the profile ${path}: ${(error as Error).message}`);
  }
  return parseLayer({ path, text, scope: "user" });
}

/** Most machines have no profile, so the parser loads late. */
export async function parseLayer(file: Omit<Layer, "profile">): Promise<Layer> {
  const { path, text } = file;
  const { parse } = await import("smol-toml");
  let profile: Profile;
  try {
    profile = parse(text);
  } catch (error) {
    throw new UsageError(tomlProblem(path, error));
  }
  checkVersion(profile, path);
  return { ...file, profile };
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
