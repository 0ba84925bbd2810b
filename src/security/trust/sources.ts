/**
 * The folders that are looked in, most global first.
 *
 * 1. Of the user: the folders of other tools in the home folder, `.claude.json` and `AGENTS.md` beside them, then Oxbow's configuration folder.
 * 2. Of the project: the working folder and the folders above it up to the top of the repository. In each: `.mcp.json`, the
 *    folders of other tools, and `.oxbow`, which wins.
 * 3. Below the home folder the search for sources goes on up to the home folder. A folder above the repository counts only if it belongs
 *    to the user or to root and not everyone may write to it. Outside the home folder the search ends at the top of the repository,
 *    and without a repository at the working folder. Instruction files beside a source count above the working folder only without a
 *    repository; those in a source always count.
 * 4. A folder that everyone may write to and that belongs to another user is never a source.
 * 5. Where the tools may write, nothing is the user's own.
 */
import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isWithin } from "../../system/within.js";
import type { ContentKind } from "./content.js";
import { foldersUpward, type Origin, realFolder } from "./folders.js";
import { isThere } from "./is-there.js";
import {
  alternativesOf,
  HOME_LAYOUTS,
  LAYOUTS,
  type Place,
  PROJECT_PLACES,
  SOURCE_FOLDER,
  SOURCE_PLACES,
} from "./places.js";
import { readPluginFolder } from "./plugin-folder.js";

export interface Source extends Origin {
  readonly places: readonly Place[];
  /** It belongs to another tool of the user. */
  readonly optional?: true;
  /** The name of the plugin that it is. */
  readonly plugin?: string;
}

export interface ProjectFolder {
  readonly origin: Origin;
  readonly sources: readonly Source[];
  readonly hasInstructions: boolean;
}

export interface Home {
  readonly config: string;
  readonly user?: string | undefined;
  /** Folders of skills that the user's profile names. */
  readonly packs?: readonly string[] | undefined;
  /** Folders with plugins of Claude Code that the user names. */
  readonly plugins?: readonly string[] | undefined;
  /** Files with code that the user's profile names. */
  readonly code?: readonly string[] | undefined;
}

/** Holds what Oxbow asks about in the user's own folder: providers there are read without approval. */
const OWN_PLACES = SOURCE_PLACES.filter(({ kind }) => kind !== "provider");
/** Holds what a folder above the repository may bring. */
const PLACES_ABOVE = SOURCE_PLACES.filter(({ kind }) => kind !== "sessions");
/** A pack is a folder of skills. */
const PACK_PLACES: readonly Place[] = [
  { path: ".", kind: "skill", also: ["skill-file", "event-hooks"], shape: "skills" },
];
const HOME_PLACES: readonly Place[] = [{ path: "AGENTS.md", kind: "instructions", shape: "file" }];

/** `folder` must be free of links; `names`: the instruction files in use. */
export function userSources(folder: string, home: Home, names?: readonly string[]): readonly Source[] {
  const user = home.user === undefined ? undefined : realFolder(home.user);
  const wantsAgents = names?.some((name) => alternativesOf(name).includes("AGENTS.md")) ?? true;
  const layouts =
    user === undefined
      ? []
      : [...LAYOUTS, ...HOME_LAYOUTS, ...(wantsAgents ? [{ folder: "", places: HOME_PLACES }] : [])].map((layout) => ({
          ...layout,
          path: join(user, layout.folder),
        }));
  const packs = (home.packs ?? []).map((path) => ({ path, places: PACK_PLACES, folder: undefined }));
  const folders = [...layouts, ...packs, { path: home.config, places: OWN_PLACES, folder: undefined }];
  const own = folders.flatMap(({ path, places, folder: layout }): Source[] => {
    const root = realFolder(path);
    if (root === undefined) return [];
    const owner = isWithin(root, folder) ? "project" : "user";
    return [{ root, base: "", owner, places, ...(layout !== undefined && owner === "user" && { optional: true }) }];
  });
  return [...pluginSources(folder, home.plugins ?? []), ...codeSources(folder, home.code ?? []), ...own];
}

/** Code in the workspace is never loaded, so it needs no approval. */
function codeSources(folder: string, files: readonly string[]): readonly Source[] {
  return files.flatMap((file): Source[] => {
    const root = realFolder(dirname(file));
    if (root === undefined || isWithin(root, folder)) return [];
    return [{ root, base: "", owner: "user", places: [{ path: basename(file), kind: "plugin", shape: "file" }] }];
  });
}

function pluginSources(folder: string, plugins: readonly string[]): readonly Source[] {
  return plugins.flatMap((path): Source[] => {
    const root = realFolder(path);
    if (root === undefined) return [];
    const { name, places } = readPluginFolder(root);
    return [{ root, base: "", owner: isWithin(root, folder) ? "project" : "user", places, plugin: name }];
  });
}

/** Folders that a hook named. */
export function extraSources(folders: readonly string[]): readonly Source[] {
  return folders.flatMap((folder): Source[] => {
    const root = realFolder(folder);
    if (root === undefined || !isOurs(root)) return [];
    return [{ root, base: "", owner: "project", isAbove: true, places: PLACES_ABOVE }];
  });
}

/** Outermost first. `folder` must be free of links. */
export function projectFolders(
  folder: string,
  { home, stopAt }: { readonly home: Home; readonly stopAt?: string | undefined },
): readonly ProjectFolder[] {
  const user = home.user === undefined ? undefined : realFolder(home.user);
  const within = foldersUpward(folder, stopAt).map((place): ProjectFolder => {
    const origin: Origin = { ...place, owner: "project" };
    const sources = isOpenToOthers(join(place.root, place.base)) ? [] : sourcesIn(origin, SOURCE_PLACES, user);
    return { origin, sources, hasInstructions: true };
  });
  const top = within[0]?.origin;
  const hasRepository = top !== undefined && isThere(join(top.root, top.base, ".git"));
  const above = top === undefined || user === undefined ? [] : foldersAbove(join(top.root, top.base), user);
  return [
    ...above.map((root): ProjectFolder => {
      const origin: Origin = { root, base: "", owner: "project", isAbove: true };
      // The file of the home folder is the user's.
      const hasInstructions = !hasRepository && root !== user;
      return { origin, sources: sourcesIn(origin, PLACES_ABOVE, user), hasInstructions };
    }),
    ...within,
  ];
}

/** The places of a source that may hold content of these kinds. */
export function wantedPlaces({ places }: Source, kinds: ReadonlySet<ContentKind> | undefined): readonly Place[] {
  if (kinds === undefined) return places;
  return places.filter(({ kind, also = [] }) => kinds.has(kind) || also.some((other) => kinds.has(other)));
}

function sourcesIn(origin: Origin, places: readonly Place[], user: string | undefined): readonly Source[] {
  const at = (name: string) => join(origin.base, name);
  // Those of the home folder are the user's.
  const layouts = join(origin.root, origin.base) === user ? [] : LAYOUTS;
  return [
    { ...origin, places: PROJECT_PLACES },
    ...layouts.map((layout) => ({ ...origin, base: at(layout.folder), places: layout.places })),
    { ...origin, base: at(SOURCE_FOLDER), places },
  ];
}

function foldersAbove(top: string, user: string): readonly string[] {
  if (top === user || !isWithin(top, user)) return [];
  const folders: string[] = [];
  for (let current = dirname(top); ; current = dirname(current)) {
    if (isOurs(current)) folders.unshift(current);
    if (current === user) return folders;
  }
}

const EVERYONE_MAY_WRITE = 0o002;

function isOurs(folder: string): boolean {
  const uid = process.getuid?.();
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  return uid === undefined || ((stat.uid === uid || stat.uid === 0) && (stat.mode & EVERYONE_MAY_WRITE) === 0);
}

function isOpenToOthers(folder: string): boolean {
  const uid = process.getuid?.();
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (stat === undefined || uid === undefined) return false;
  return stat.uid !== uid && (stat.mode & EVERYONE_MAY_WRITE) !== 0;
}
