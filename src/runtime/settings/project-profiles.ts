/**
 * Settings of a project: `.oxbow/config.toml`, and `.oxbow/profiles/NAME.toml` for the profile in use. Both apply only after the user
 * approved them, and only to what a project may set. The outermost folder comes first, then the profile over the config.toml files.
 */
import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ExtensionFile } from "../../base/extension-files.js";
import { nearest } from "../../base/nearest.js";
import { UsageError } from "../../base/usage-error.js";
import { parseLayer } from "../../feature/layer.js";
import type { Layer } from "../../feature/setting.js";
import { claudeLayers } from "../../security/permissions/claude-rules.js";
import { isThere } from "../../security/trust/is-there.js";
import { SOURCE_FOLDER } from "../../security/trust/places.js";
import { projectFolders } from "../../security/trust/sources.js";
import { homeFolder } from "../../system/xdg-paths.js";
import { RULED_TOOLS } from "../parts/own-tools.js";
import type { ChosenProfile, ProfileSources } from "./choose-profile.js";
import { BUILT_IN_PROFILES, namesIn } from "./choose-profile.js";
import { type LoadedSettings, resolveSettings } from "./settings.js";

/**
 * The settings together with those of the project. `files`: the approved profiles. `unapproved`: what to do if the chosen one is not
 * approved.
 */
export async function withProject(
  loaded: LoadedSettings,
  files: readonly ExtensionFile[],
  { unapproved }: { readonly unapproved: "refuse" | "ignore" },
): Promise<LoadedSettings> {
  const { chosen, layers } = loaded;
  const own = files.filter(({ scope, entry }) => scope === "project" && entry === undefined);
  const configs = own.filter(({ source, path }) => path === join(source, "config.toml"));
  const profiles = own.filter(({ source, path }) => path === join(source, "profiles", `${chosen.name}.toml`));
  const used = [...configs, ...(chosen.file === undefined || chosen.onlyProject ? profiles : [])];
  if (chosen.onlyProject && unapproved === "refuse") requireApproved(chosen, used);
  const claude = await claudeLayers(files, RULED_TOOLS);
  if (used.length === 0 && claude.layers.length === 0) return loaded;
  const added = await Promise.all(
    used.map(async (file) => parseLayer({ scope: "project", path: file.path, text: await file.read() })),
  );
  const of = (wanted: Layer["scope"]) => claude.layers.filter(({ scope }) => scope === wanted);
  const users = layers.filter(({ scope, path }) => scope !== "project" && !claude.layers.some((l) => l.path === path));
  const all = await resolveSettings({ ...loaded, layers: [...of("user"), ...users, ...of("project"), ...added] });
  return { ...all, warnings: [...all.warnings, ...claude.warnings] };
}

/** Throws if the chosen profile is not approved: the run would differ from what the user expects. */
function requireApproved({ name, file, origin }: ChosenProfile, used: readonly ExtensionFile[]): void {
  const isFound =
    file === undefined
      ? used.some(({ path }) => path.endsWith(`/profiles/${name}.toml`))
      : used.some(({ path }) => path === file);
  if (isFound) return;
  throw new UsageError(
    `${origin}: the profile "${name}" of this project is not approved. Run 'oxbow ack' here to read and approve it.`,
  );
}

/** Checks only names: the profile is read after it is approved. */
export async function requireProjectProfile(
  { name, file, origin }: ChosenProfile,
  { flags, variables, roots }: ProfileSources,
): Promise<void> {
  const root = resolve(flags.text("cwd") ?? process.cwd());
  const known = profileNames({ root, variables, roots });
  if (known.includes(name) || (file !== undefined && isThere(file))) return;
  const near = nearest(name, known);
  const advice = near === undefined ? `There are ${known.join(", ")}.` : `Did you mean "${near}"?`;
  throw new UsageError(`${origin}: there is no profile "${name}". ${advice} 'oxbow profiles' shows all of them.`);
}

/** The names of all profiles that a session in `root` could use; a project's may still need approval. */
export function profileNames({ root, variables, roots }: ProfileNamePlace): readonly string[] {
  const folders = [join(roots.config, "profiles"), ...profileFolders(root, { variables, roots })];
  return [...new Set([...BUILT_IN_PROFILES, ...folders.flatMap(namesIn)])];
}

interface ProfileNamePlace extends Pick<ProfileSources, "variables" | "roots"> {
  readonly root: string;
}

/** The `profiles` folders of a project, the outermost first. */
function profileFolders(
  root: string,
  { variables, roots }: Pick<ProfileSources, "variables" | "roots">,
): readonly string[] {
  if (!isThere(root)) return [];
  const home = { config: roots.config, user: homeFolder(variables) };
  return projectFolders(realpathSync.native(root), { home }).map(({ origin }) => {
    return join(origin.root, origin.base, SOURCE_FOLDER, "profiles");
  });
}
