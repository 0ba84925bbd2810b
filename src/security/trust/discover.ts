/**
 * What would be loaded in a folder.
 *
 * 1. Only known names in known places are looked at: the working folder, the folders above it up to the project's top (or
 *    `stopAt`), and the user's configuration folder. A repository is never searched; what lies deeper is found when a
 *    file there is first touched (`NestedContent`).
 * 2. Nothing is parsed but files that list programs to start, and nothing is executed.
 * 3. Entries that lead out of the root, are not regular files, are too large or too many are reported and never read.
 * 4. One file under two names is one item, unless it would be used in two ways.
 */
import { opendirSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { isWithin } from "../../system/within.js";
import { type ContentItem, type ContentKind, type FoundContent, keyOf, type UnusableContent } from "./content.js";
import { describeEntries, describeFile, describeStore, misplaced, readPlace } from "./describe.js";
import { foldersUpward, type Origin, projectTop, realFolder } from "./folders.js";
import { isThere } from "./is-there.js";
import { instructionPlaces, type Place, PROJECT_PLACES, SOURCE_FOLDER, SOURCE_PLACES } from "./places.js";
import { REVIEWABLE_BYTES } from "./read-content.js";

export interface DiscoverOptions {
  /** The folder that Oxbow works in. */
  readonly folder: string;
  /** Oxbow's own folders of the user. */
  readonly home: { readonly config: string };
  /** The topmost folder to look in: by default the top of the repository, and without one the folder itself. */
  readonly stopAt?: string;
  /** The instruction files that are in use, as a profile lists them; all that are known when not given. */
  readonly sources?: readonly string[];
  /** Which files an instruction file names as parts of it, absolute. They are approved like the file itself. */
  readonly importsOf?: (file: { readonly path: string; readonly text: string }) => Promise<readonly string[]>;
  /** The kinds to look for. Content that is never loaded needs no approval. Default: all kinds. */
  readonly kinds?: ReadonlySet<ContentKind>;
}

/** More names than this in one folder are taken for an attack. */
const MAX_FILES = 2000;
const MAX_DEPTH = 8;
/** Of all files together: hashing them is what a start waits for. */
const MAX_BYTES = 512 * 1024 * 1024;
/** No program runs or reads these. */
const IDLE_NAMES: ReadonlySet<string> = new Set([".DS_Store", "Thumbs.db", ".gitkeep", ".gitignore"]);

export async function discoverContent(options: DiscoverOptions): Promise<FoundContent> {
  const folder = realpathSync.native(options.folder);
  const search = new Search();
  const config = realFolder(options.home.config);
  if (config !== undefined) {
    // Where the tools may write, nothing is the user's own.
    const owner = isWithin(config, folder) ? "project" : "user";
    await search.source({ root: config, base: "", owner }, wanted(SOURCE_PLACES, options));
  }
  for (const { root, base } of foldersUpward(folder, options.stopAt)) {
    const from: Origin = { root, base, owner: "project" };
    await search.instructions(from, options);
    await search.source(from, wanted(PROJECT_PLACES, options));
    const source = join(base, SOURCE_FOLDER);
    if (isThere(join(root, source))) await search.source({ ...from, base: source }, wanted(SOURCE_PLACES, options));
  }
  await search.imports(options);
  return search.found();
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
    const search = new Search();
    for (const folder of fresh) {
      const from: Origin = { root: this.#root, base: relative(this.#root, folder), owner: "project" };
      await search.instructions(from, this.#options);
    }
    await search.imports(this.#options);
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

function wanted(places: readonly Place[], { kinds }: Pick<DiscoverOptions, "kinds">): readonly Place[] {
  return kinds === undefined ? places : places.filter(({ kind }) => kinds.has(kind));
}

/** Collects; a file that was found under another name is skipped. */
class Search {
  readonly #items: ContentItem[] = [];
  readonly #unusable: UnusableContent[] = [];
  readonly #seen = new Set<string>();
  readonly #roots = new Set<string>();
  #bytes = 0;

  found(): FoundContent {
    return { roots: [...this.#roots], items: this.#items, unusable: this.#unusable };
  }

  async source(origin: Origin, places: readonly Place[]): Promise<void> {
    this.#roots.add(origin.root);
    // Most folders have none of them, and every start waits for this: no more than a look at each name.
    const folder = join(origin.root, origin.base, sep);
    for (const place of places) {
      if (!isThere(folder + place.path)) continue;
      await this.#place(origin, { ...place, path: join(origin.base, place.path) });
    }
  }

  /** All that a profile lists, in its order. Copies of one text for several tools, and what an override replaces, count once. */
  async instructions(origin: Origin, options: Pick<DiscoverOptions, "sources" | "kinds">): Promise<void> {
    const from = this.#items.length;
    for (const place of wanted(instructionPlaces(options.sources), options)) {
      const before = this.#items.length;
      const given = this.#items.slice(from);
      const isOverridden =
        place.path === "AGENTS.md" && given.some(({ path }) => /(^|\/)AGENTS\.override\.md$/.test(path));
      if (isOverridden && options.sources !== undefined) continue;
      await this.source(origin, [place]);
      const added = this.#items.splice(before);
      const isCopy = (item: ContentItem) => given.some((earlier) => earlier.sha256 === item.sha256);
      this.#items.push(...(options.sources === undefined ? added : added.filter((item) => !isCopy(item))));
    }
  }

  /** What the instruction files found so far name, and what that names. */
  async imports(options: DiscoverOptions): Promise<void> {
    if (options.importsOf === undefined) return;
    // The list grows while it is gone through.
    for (const item of this.#items) {
      if (item.kind !== "instructions" || this.#items.length > MAX_FILES) continue;
      const content = readPlace(item, { keep: REVIEWABLE_BYTES });
      if (!("bytes" in content) || content.bytes === undefined) continue;
      const file = { path: join(item.root, item.path), text: content.bytes.toString("utf8") };
      for (const path of await options.importsOf(file)) {
        const { items, unusable } = contentAt(path, { ...options, kind: "instructions" });
        for (const one of items) this.#add({ ...one, imported: true });
        for (const one of unusable) this.#add(one);
      }
    }
  }

  async #place(origin: Origin, place: Place): Promise<void> {
    switch (place.shape) {
      case "file":
        return this.#file(origin, place);
      case "tree":
        for (const path of this.#tree(origin, place)) this.#file(origin, { ...place, path });
        return;
      case "skills":
        return this.#skills(origin, place);
      case "profiles":
        for (const path of this.#tree(origin, place)) await this.#profile(origin, { ...place, path });
        return;
      case "profile":
        return this.#profile(origin, place);
      case "servers":
        return this.#entries(origin, place);
      case "store":
        return this.#store(origin, place);
    }
  }

  /** Oxbow keeps sessions in a project's own folder alone, never in a folder of this name in the user's configuration. */
  #store({ root, owner }: Origin, { path, kind }: Place): void {
    if (basename(dirname(path)) === SOURCE_FOLDER) this.#add(describeStore({ root, path: slashes(path), kind, owner }));
  }

  /** The user's own profile needs no approval, but the programs it starts do: a program may have written them there. */
  async #profile(origin: Origin, place: Place): Promise<void> {
    if (origin.owner === "project") this.#file(origin, place);
    await this.#entries(origin, place);
  }

  async #entries({ root, owner }: Origin, { path, kind }: Place): Promise<void> {
    for (const item of await describeEntries({ root, path: slashes(path), kind, owner })) this.#add(item);
  }

  #skills(origin: Origin, place: Place): void {
    const paths = this.#tree(origin, place);
    const partsOf = (path: string) => relative(place.path, path).split(sep);
    const skills = new Set(paths.filter((path) => isSkill(partsOf(path))).map((path) => partsOf(path)[0]));
    for (const path of paths) {
      const parts = partsOf(path);
      if (!skills.has(parts[0])) continue;
      this.#file(origin, { ...place, path, kind: isSkill(parts) ? "skill" : "skill-file" });
    }
  }

  #file({ root, owner }: Origin, { path, kind }: Place): void {
    this.#add(describeFile({ root, path: slashes(path), kind, owner }, MAX_BYTES - this.#bytes));
  }

  #add(item: ContentItem | UnusableContent): void {
    if ("problem" in item) {
      this.#unusable.push(item);
      return;
    }
    this.#bytes += item.size;
    const key = keyOf({ ...item, root: item.kind, path: item.target ?? join(item.root, item.path) });
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#items.push(item);
  }

  /** The files below a folder, sorted. Links to folders are followed as far as content may come from there. */
  #tree(origin: Origin, { path: top, kind, ending = "" }: Place): readonly string[] {
    const visited = new Set<string>();
    const paths: string[] = [];
    const walk = (path: string, depth: number): string | undefined => {
      const full = join(origin.root, path);
      const real = realFolder(full);
      if (real === undefined) return statOf(full) === undefined ? "points to a missing file" : "is not a folder";
      const problem = misplaced(real, origin);
      if (problem !== undefined || visited.has(real)) return problem;
      visited.add(real);
      if (depth > MAX_DEPTH) return `lies more than ${MAX_DEPTH} folders deep`;
      const names = namesIn(real);
      for (const name of names ?? []) {
        if (paths.length >= MAX_FILES) return `holds more than ${MAX_FILES} files`;
        const below = join(path, name);
        if (statOf(join(origin.root, below))?.isDirectory()) enter(below, depth + 1);
        else if (name.endsWith(ending) && !IDLE_NAMES.has(name)) paths.push(below);
      }
      return names === undefined ? "cannot be read" : undefined;
    };
    const enter = (path: string, depth: number) => {
      const problem = walk(path, depth);
      if (problem === undefined) return;
      this.#unusable.push({ root: origin.root, owner: origin.owner, path: slashes(path), kind, problem });
    };
    enter(top, 0);
    return paths.sort();
  }
}

function isSkill(parts: readonly string[]): boolean {
  return parts.length === 2 && parts[1] === "SKILL.md";
}

/** Of a folder that was filled to be in the way, only so many. Undefined when it cannot be read. */
function namesIn(folder: string): readonly string[] | undefined {
  const names: string[] = [];
  try {
    const open = opendirSync(folder);
    try {
      for (let entry = open.readSync(); entry !== null && names.length <= MAX_FILES; entry = open.readSync()) {
        names.push(entry.name);
      }
    } finally {
      open.closeSync();
    }
  } catch {
    return undefined;
  }
  return names.sort();
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
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
