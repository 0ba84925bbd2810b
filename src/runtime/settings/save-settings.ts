/** Writes what a person chose in a conversation to the settings. What else is in the file stays as it is. */
import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { ChosenSettings } from "../../base/chosen-settings.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import type { LoadedSettings } from "./settings.js";

/** Returns a sentence for the person: where it was saved, or why not, and what overrides it here. */
export async function saveSettings(
  { profilePath, settings }: Pick<LoadedSettings, "profilePath" | "settings">,
  chosen: ChosenSettings,
): Promise<string> {
  const keys = Object.keys(chosen) as (keyof ChosenSettings)[];
  try {
    const before = await readFile(profilePath, "utf8").catch(emptyIfMissing);
    const after = await withKeys(before, chosen);
    if (after === undefined) return `Not saved: write ${keys.join(" and ")} into ${profilePath} yourself.`;
    await mkdir(dirname(profilePath), { recursive: true, mode: 0o700 });
    if (after !== before) await writeFileAtomic(profilePath, after, { mode: 0o600 });
  } catch (error) {
    return `Not saved: ${(error as Error).message}`;
  }
  const stronger = keys.map((key) => settings[key].origin).find((origin) => isStronger(origin, profilePath));
  const here = stronger === undefined ? "" : ` In this place ${stronger} overrides it.`;
  return `Saved for new sessions in ${profilePath}.${here}`;
}

/** A flag holds for this start only, so it overrides nothing later. */
function isStronger(origin: string, profilePath: string): boolean {
  return origin !== "default" && origin !== profilePath && !origin.startsWith("--");
}

/** The text with these keys at its top level; undefined if the file is not simple enough to change it line by line. */
async function withKeys(before: string, chosen: ChosenSettings): Promise<string | undefined> {
  const { parse } = await import("smol-toml");
  const plain = (text: string) => JSON.parse(JSON.stringify(parse(text))) as Record<string, unknown>;
  const wanted = plain(before);
  let lines = before.split("\n");
  for (const [key, value] of Object.entries(chosen)) {
    const table = lines.findIndex((line) => /^\s*\[/.test(line));
    const at = lines.findIndex((line, index) => (table === -1 || index < table) && isLineOf(line, key));
    const line = value === null ? [] : [`${key} = ${JSON.stringify(value)}`];
    lines = at === -1 ? [...line, ...lines] : lines.toSpliced(at, 1, ...line);
    if (value === null) delete wanted[key];
    else wanted[key] = value;
  }
  const after = lines.join("\n");
  try {
    return isDeepStrictEqual(plain(after), wanted) ? after : undefined;
  } catch {
    return undefined;
  }
}

function isLineOf(line: string, key: string): boolean {
  return new RegExp(`^\\s*(?:${key}|"${key}")\\s*=`).test(line);
}

function emptyIfMissing(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return "";
  throw error;
}
