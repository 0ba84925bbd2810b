/**
 * Describes what would be loaded in a folder.
 *
 * 1. Only known names in known places are looked at (`sources.ts`). A repository is never searched; what lies deeper is found
 *    when a file there is first touched (`NestedContent`).
 * 2. Nothing is parsed but files that list programs to start, and nothing is executed.
 * 3. Entries that lead out of the root, are not regular files, are too large or too many are reported and never read.
 * 4. One file under two names is one item, unless it would be used in two ways or under both names.
 */
import { realpathSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { isWithin } from "../../system/within.js";
import type { ContentKind, FoundContent } from "./content.js";
import { describeFile } from "./describe.js";
import { type Origin, projectTop, realFolder } from "./folders.js";
import { Search } from "./search.js";
import { extraSources, type Home, projectFolders, userSources } from "./sources.js";

export interface DiscoverOptions {
  /** The folder that Oxbow works in. */
  readonly folder: string;
  /** Oxbow's configuration folder, and the user's home folder: content of other tools is in it, and the search upward ends there. */
  readonly home: Home;
  /** The topmost folder to look in: by default the top of the repository, and without one the folder itself. */
  readonly stopAt?: string;
  /** The instruction files in use, as a profile lists them; default: all known ones. */
  readonly sources?: readonly string[];
  /** The profile in use: other files in a `profiles` folder are ignored. Default: all profiles. */
  readonly profile?: string;
  /** Tells which files an instruction file names as parts of it, absolute. They are approved like the file itself. */
  readonly importsOf?: (file: { readonly path: string; readonly text: string }) => Promise<readonly string[]>;
  /** More folders like `.oxbow`, absolute; they count as the project's, whatever they are. */
  readonly extra?: readonly string[];
  /** The kinds to look for. Content that is never loaded needs no approval. Default: all kinds. */
  readonly kinds?: ReadonlySet<ContentKind>;
}

export async function discoverContent(options: DiscoverOptions): Promise<FoundContent> {
  const folder = realpathSync.native(options.folder);
  const search = new Search({ ...options, folder });
  for (const source of userSources(folder, options.home, options.sources)) await search.source(source);
  for (const { origin, sources, hasInstructions } of projectFolders(folder, options)) {
    if (hasInstructions) await search.instructions(origin);
    for (const source of sources) await search.source(source);
  }
  for (const source of extraSources(options.extra ?? [])) await search.source(source);
  await findImports(search, options);
  return search.found();
}

async function findImports(search: Search, options: DiscoverOptions): Promise<void> {
  const { importsOf } = options;
  if (importsOf === undefined) return;
  await search.imports(async (file) => {
    const parts = (await importsOf(file)).map((path) => contentAt(path, { ...options, kind: "instructions" }));
    return {
      roots: [],
      items: parts.flatMap(({ items }) => items),
      unusable: parts.flatMap(({ unusable }) => unusable),
    };
  });
}

/** Instruction files in folders below the working folder: looked for when a file there is first touched. */
export class NestedContent {
  readonly #options: DiscoverOptions;
  readonly #folder: string;
  readonly #root: string;
  readonly #seen = new Set<string>();

  constructor(options: DiscoverOptions) {
    this.#options = options;
    this.#folder = realpathSync.native(options.folder);
    this.#root = projectTop(this.#folder);
    this.#seen.add(this.#folder);
  }

  /** The new content of the folders of `path`, outermost first. */
  async touch(path: string): Promise<FoundContent> {
    const fresh = this.#freshFolders(resolve(this.#folder, path));
    if (fresh.length === 0) return { roots: [], items: [], unusable: [] };
    const search = new Search(this.#options);
    for (const folder of fresh) {
      const from: Origin = { root: this.#root, base: relative(this.#root, folder), owner: "project" };
      await search.instructions(from);
    }
    await findImports(search, this.#options);
    return search.found();
  }

  #freshFolders(path: string): readonly string[] {
    const start = nearestFolder(path);
    if (start === undefined || !isWithin(start, this.#folder)) return [];
    const fresh: string[] = [];
    for (let folder = start; !this.#seen.has(folder); folder = dirname(folder)) {
      this.#seen.add(folder);
      fresh.unshift(folder);
    }
    return fresh;
  }
}

/** One file that other content names, found the same way: within the project, or within the user's configuration. */
export function contentAt(path: string, options: DiscoverOptions & { readonly kind: ContentKind }): FoundContent {
  const folder = realpathSync.native(options.folder);
  const config = realFolder(options.home.config);
  const full = resolve(folder, path);
  const isUsers = config !== undefined && isWithin(full, config) && !isWithin(config, folder);
  const root = isUsers ? config : projectTop(folder);
  const place = {
    root,
    path: slashes(relative(root, full)),
    kind: options.kind,
    owner: isUsers ? "user" : "project",
  } as const;
  const item = describeFile(place);
  return "problem" in item ? { roots: [], items: [], unusable: [item] } : { roots: [], items: [item], unusable: [] };
}

/** The folder a path is or would be in; a file that does not exist yet has one too. */
function nearestFolder(path: string): string | undefined {
  for (let current = path; ; current = dirname(current)) {
    const real = realFolder(current);
    if (real !== undefined) return real;
    if (current === dirname(current)) return undefined;
  }
}

function slashes(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}

/** Finds the content of the start, and that of the given paths. */
export async function findAll(
  options: DiscoverOptions & { readonly paths?: readonly string[] },
): Promise<FoundContent> {
  const parts = [await discoverContent(options)];
  const nested = new NestedContent(options);
  for (const path of options.paths ?? []) parts.push(await nested.touch(path));
  return {
    roots: [...new Set(parts.flatMap(({ roots }) => roots))],
    items: parts.flatMap(({ items }) => items),
    unusable: parts.flatMap(({ unusable }) => unusable),
  };
}
