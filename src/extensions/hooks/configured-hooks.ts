/**
 * The hooks that count in a place: those of approved files, and those of a profile that the user named on the command line or in the
 * environment.
 */
import { basename, join } from "node:path";
import type { ExtensionFile } from "../../base/extension-files.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { readRegularText } from "../../system/regular-file.js";
import { isWithin } from "../../system/within.js";
import { type HookEntries, profileEntries, type ReadHooks, readHooks } from "./configuration.js";
import type { WrittenHooks } from "./settings.js";

export interface HooksPlace {
  readonly root: string;
  /** The user's configuration folder. */
  readonly config: string;
  /** The files of the profiles in use. */
  readonly profiles: readonly string[];
}

export async function fileHooks(files: readonly ExtensionFile[], place: HooksPlace): Promise<ReadHooks> {
  const problems: string[] = [];
  const wanted = await withoutDisabled(files.filter((file) => isInUse(file, place)));
  const found = await Promise.all(wanted.map((file) => entryOf(file, problems)));
  const { hooks, problems: more } = readHooks(found.filter((entry) => entry !== undefined));
  return { hooks, problems: [...problems, ...more] };
}

export function namedProfileHooks(written: readonly WrittenHooks[], place: HooksPlace): ReadHooks {
  const problems: string[] = [];
  const { hooks, problems: more } = readHooks(ownProfile(written, place, problems));
  return { hooks, problems: [...problems, ...more] };
}

/** Tells whether the file is a profile in use; `config.toml` of a source always is. */
function isInUse({ path }: ExtensionFile, { profiles }: HooksPlace): boolean {
  if (!path.endsWith(".toml") || basename(path) === "config.toml") return true;
  return profiles.map(realpathOrSelf).includes(realpathOrSelf(path));
}

/** A profile in the user's configuration folder comes with the approved files. */
function ownProfile(
  written: readonly WrittenHooks[],
  { root, config }: HooksPlace,
  problems: string[],
): readonly HookEntries[] {
  return written.flatMap(({ path, value }) => {
    if (isWithin(path, config)) return [];
    if (!isWithin(path, root)) return profileEntries(value, path);
    if (path !== join(root, ".oxbow", "config.toml"))
      problems.push(`${path}: hooks of a profile in the working folder do not run.`);
    return [];
  });
}

async function entryOf(file: ExtensionFile, problems: string[]): Promise<HookEntries | undefined> {
  const { scope, path, entry = "", plugin, source } = file;
  try {
    const value: unknown = JSON.parse(await file.read());
    return { scope, path, event: eventOf(entry), value, ...(plugin !== undefined && { pluginRoot: source }) };
  } catch (error) {
    problems.push(`${path}: Oxbow cannot read the hooks: ${(error as Error).message}`);
    return undefined;
  }
}

/** `[[hooks]]` of a profile are numbered; they name their event themselves. */
export function eventOf(entry: string): string {
  return /^hooks\.(\D.*)$/.exec(entry)?.[1] ?? "";
}

/** `disableAllHooks` of the user's settings switches all such hooks off; that of a project only the project's. */
async function withoutDisabled(files: readonly ExtensionFile[]): Promise<readonly ExtensionFile[]> {
  const settings = files.filter(({ path }) => path.endsWith(".json"));
  const off = new Set<string>();
  for (const { path, scope } of settings) if (await isDisabled(path)) off.add(scope);
  if (off.size === 0) return files;
  return files.filter((file) => !settings.includes(file) || !(off.has("user") || off.has(file.scope)));
}

/** Tells whether a settings file of Claude Code says `disableAllHooks`. */
export async function isDisabled(path: string): Promise<boolean> {
  try {
    const settings = JSON.parse(await readRegularText(path)) as { readonly disableAllHooks?: unknown } | null;
    return settings?.disableAllHooks === true;
  } catch {
    return false;
  }
}
