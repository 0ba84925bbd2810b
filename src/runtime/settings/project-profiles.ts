/**
 * Settings of a project: `.oxbow/config.toml`, and `.oxbow/profiles/NAME.toml` for the profile in use. Both count only after the user
 * approved them, and only for what a project may set. The outermost folder comes first, then the profile over the config.toml files.
 */
import { join, resolve } from "node:path";
import type { ExtensionFile } from "../../base/extension-files.js";
import { nearest } from "../../base/nearest.js";
import { UsageError } from "../../base/usage-error.js";
import { isThere } from "../../security/trust/is-there.js";
import { SOURCE_FOLDER } from "../../security/trust/places.js";
import { projectFolders } from "../../security/trust/sources.js";
import { homeFolder } from "../content/home-folder.js";
import { BUILT_IN_PROFILES } from "./built-in-profiles.js";
import type { ChosenProfile, ProfileSources } from "./choose-profile.js";
import { parseLayer } from "./profile.js";
import { namesIn } from "./profile-names.js";
import { type LoadedSettings, settle } from "./settings.js";

/** The settings together with those of the project. `files`: the approved profiles. `unapproved`: what to do without the chosen one. */
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
  if (used.length === 0) return loaded;
  const added = await Promise.all(
    used.map(async (file) => parseLayer({ scope: "project", path: file.path, text: await file.read() })),
  );
  return settle({ ...loaded, layers: [...layers.filter(({ scope }) => scope !== "project"), ...added] });
}

/** Without the profile that the user asked for, the run would not be what they expect. */
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

/** Looks at names only: the profile is read after it is approved. */
export async function requireProjectProfile(
  { name, file, origin }: ChosenProfile,
  { flags, variables, roots }: ProfileSources,
): Promise<void> {
  const folder = resolve(flags.text("cwd") ?? process.cwd());
  const folders = profileFolders(folder, { config: roots.config, user: homeFolder(variables) });
  const found = folders.some((each) => isThere(join(each, `${name}.toml`)));
  if (found || (file !== undefined && isThere(file))) return;
  const known = [...new Set([...BUILT_IN_PROFILES, ...[join(roots.config, "profiles"), ...folders].flatMap(namesIn)])];
  const near = nearest(name, known);
  const advice = near === undefined ? `There are ${known.join(", ")}` : `Did you mean "${near}"`;
  throw new UsageError(
    `${origin}: there is no profile "${name}". ${advice}${near === undefined ? "." : "?"} 'oxbow profiles' shows all of them.`,
  );
}

/** The `profiles` folders of a project, the outermost first. */
export function profileFolders(
  folder: string,
  home: { readonly config: string; readonly user: string | undefined },
): readonly string[] {
  return projectFolders(folder, { home }).map(({ origin }) =>
    join(origin.root, origin.base, SOURCE_FOLDER, "profiles"),
  );
}
