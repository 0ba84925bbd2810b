/** Collects content from known places. Nothing is parsed but files that list programs to start, and nothing is executed. */
import { opendirSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { type ContentItem, type ContentKind, type FoundContent, keyOf, type UnusableContent } from "./content.js";
import { describeEntries, describeFile, describeStore, describeText, misplaced, readPlace } from "./describe.js";
import { isForFolder } from "./entries.js";
import { type Origin, realFolder } from "./folders.js";
import { mayHaveHooks } from "./front-matter-hooks.js";
import { isThere } from "./is-there.js";
import { instructionPlaces, type Place, SOURCE_FOLDER } from "./places.js";
import { REVIEWABLE_BYTES } from "./read-content.js";
import { type Source, wantedPlaces } from "./sources.js";

/** More names than this in one folder are taken for an attack. */
const MAX_FILES = 2000;
const MAX_DEPTH = 8;
/** Of all files together: hashing them is what a start waits for. */
const MAX_BYTES = 512 * 1024 * 1024;
/** No program runs or reads these. */
const IDLE_NAMES: ReadonlySet<string> = new Set([".DS_Store", "Thumbs.db", ".gitkeep", ".gitignore"]);
/** Their name is how they are called, so one file under two names is two of them. */
const NAMED_KINDS: ReadonlySet<ContentKind> = new Set(["hook", "tool", "command", "prompt", "provider", "agent"]);
/** Their front matter may have hooks. */
const HOOK_BEARERS: ReadonlySet<ContentKind> = new Set(["skill", "agent", "prompt"]);

export interface SearchOptions {
  /** The folder that Oxbow works in: entries for other folders are left out. */
  readonly folder?: string | undefined;
  readonly sources?: readonly string[] | undefined;
  readonly kinds?: ReadonlySet<ContentKind> | undefined;
  readonly profile?: string | undefined;
}

/** Finds the files that an instruction file names. */
export type FindImports = (file: { readonly path: string; readonly text: string }) => Promise<FoundContent>;

/** Collects; a file that was found under another name is skipped. */
export class Search {
  readonly #options: SearchOptions;
  readonly #items: ContentItem[] = [];
  readonly #unusable: UnusableContent[] = [];
  readonly #seen = new Set<string>();
  readonly #roots = new Set<string>();
  readonly #folders = new Set<string>();
  #bytes = 0;

  constructor(options: SearchOptions = {}) {
    this.#options = options;
  }

  found(): FoundContent {
    const folders = [...this.#folders];
    return { roots: [...this.#roots], items: this.#items, unusable: this.#unusable, folders };
  }

  async source(origin: Source): Promise<void> {
    const folder = join(origin.root, origin.base);
    if (origin.base !== "") this.#folders.add(dirname(folder));
    if (!isThere(folder)) return;
    this.#folders.add(folder);
    await this.#places(origin, wantedPlaces(origin, this.#options.kinds));
  }

  async #places(origin: Source, places: readonly Place[]): Promise<void> {
    this.#roots.add(origin.root);
    // Most folders have none of them, and every start waits for this: no more than a look at each name.
    const folder = join(origin.root, origin.base, sep);
    for (const place of places) {
      if (!isThere(folder + place.path)) continue;
      await this.#place(origin, { ...place, path: join(origin.base, place.path) });
    }
  }

  /** All that a profile lists, in its order. Copies of one text for several tools, and what an override replaces, count once. */
  async instructions(from: Origin): Promise<void> {
    const { sources, kinds } = this.#options;
    const origin: Source = { ...from, places: instructionPlaces(sources) };
    const first = this.#items.length;
    for (const place of wantedPlaces(origin, kinds)) {
      const before = this.#items.length;
      const given = this.#items.slice(first);
      const isOverridden =
        place.path === "AGENTS.md" && given.some(({ path }) => /(^|\/)AGENTS\.override\.md$/.test(path));
      if (isOverridden && sources !== undefined) continue;
      const folder = join(origin.root, origin.base);
      if (place.unless?.some((name) => isThere(join(folder, name)))) continue;
      await this.#places(origin, [place]);
      const added = this.#items.splice(before);
      const isCopy = (item: ContentItem) => given.some((earlier) => earlier.sha256 === item.sha256);
      this.#items.push(...(sources === undefined ? added : added.filter((item) => !isCopy(item))));
    }
  }

  /** Tells what the instruction files found so far name, and what that names. */
  async imports(find: FindImports): Promise<void> {
    // The list grows while it is gone through.
    for (const item of this.#items) {
      if (item.kind !== "instructions" || this.#items.length > MAX_FILES) continue;
      const content = readPlace(item, { keep: REVIEWABLE_BYTES });
      if (!("bytes" in content) || content.bytes === undefined) continue;
      const file = { path: join(item.root, item.path), text: content.bytes.toString("utf8") };
      const { items, unusable } = await find(file);
      for (const one of items) this.#add({ ...one, imported: true });
      for (const one of unusable) this.#add(one);
    }
  }

  async #place(origin: Source, place: Place): Promise<void> {
    switch (place.shape) {
      case "file":
        return this.#file(origin, place);
      case "tree":
        for (const path of this.#tree(origin, place)) {
          // Words for the model, beside programs.
          const kind = place.kind === "command" && path.endsWith(".md") ? "prompt" : place.kind;
          await this.#document(origin, { ...place, path, kind }, place.path);
        }
        return;
      case "skills":
        return this.#skills(origin, place);
      case "profiles":
        for (const path of this.#profiles(origin, place)) await this.#profile(origin, { ...place, path }, place.path);
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

  #profiles(origin: Source, place: Place): readonly string[] {
    const { profile } = this.#options;
    const paths = this.#tree(origin, place);
    return profile === undefined ? paths : paths.filter((path) => path === join(place.path, `${profile}.toml`));
  }

  /** The user's own profile needs no approval, but the programs it starts do: a program may have written them there. */
  async #profile(origin: Source, place: Place, top?: string): Promise<void> {
    if (origin.owner === "project") this.#file(origin, place, top);
    await this.#entries(origin, place, top);
  }

  async #entries(origin: Source, { path, kind, also = [] }: Place, top = dirname(path)): Promise<void> {
    const { root, owner } = origin;
    const { folder } = this.#options;
    for (const item of await describeEntries({ root, path: slashes(path), kind, owner })) {
      const isElsewhere = "entry" in item && folder !== undefined && !isForFolder(item.entry ?? "", folder);
      if (isElsewhere) continue;
      if ("problem" in item || item.kind === kind || also.includes(item.kind)) this.#add(placed(item, origin, top));
    }
  }

  /** A folder with a SKILL.md is a skill, and so is one in a folder that groups skills. A skill within a skill is a part of it. */
  async #skills(origin: Source, place: Place): Promise<void> {
    const paths = this.#tree(origin, place);
    const folders = new Set(paths.filter((path) => basename(path) === "SKILL.md").map((path) => dirname(path)));
    const skillOf = (path: string) => {
      let outermost: string | undefined;
      for (let folder = dirname(path); folder.length > place.path.length; folder = dirname(folder)) {
        if (folders.has(folder)) outermost = folder;
      }
      return outermost;
    };
    for (const path of paths) {
      const skill = skillOf(path);
      if (skill === undefined) continue;
      const kind = path === join(skill, "SKILL.md") ? "skill" : "skill-file";
      await this.#document(origin, { ...place, path, kind }, place.path);
    }
  }

  /** A skill, an agent type and a slash command may have hooks in their front matter. Each event is approved apart from the words. */
  async #document(origin: Source, place: Place, top: string): Promise<void> {
    const { path, kind, also = [] } = place;
    const mayHave = also.includes("event-hooks") && HOOK_BEARERS.has(kind);
    if (!mayHave || !this.#wants("event-hooks")) return this.#file(origin, place, top);
    const { root, owner } = origin;
    const { item, text } = describeText({ root, path: slashes(path), kind, owner }, MAX_BYTES - this.#bytes);
    this.#add(placed(item, origin, top));
    if (mayHaveHooks(text)) await this.#entries(origin, { ...place, kind: "event-hooks" }, top);
  }

  /** `top` is the folder of its kind. */
  #file(origin: Source, { path, kind }: Place, top = dirname(path)): void {
    if (!this.#wants(kind)) return;
    const { root, owner } = origin;
    const item = describeFile({ root, path: slashes(path), kind, owner }, MAX_BYTES - this.#bytes);
    this.#add(placed(item, origin, top));
  }

  #wants(kind: ContentKind): boolean {
    return this.#options.kinds === undefined || this.#options.kinds.has(kind);
  }

  #add(item: ContentItem | UnusableContent): void {
    if (!this.#wants(item.kind)) return;
    if ("problem" in item) {
      this.#unusable.push(item);
      return;
    }
    this.#bytes += item.size;
    const name = NAMED_KINDS.has(item.kind) ? `${item.kind} ${item.name ?? ""}` : item.kind;
    const key = keyOf({ ...item, root: name, path: item.target ?? join(item.root, item.path) });
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
      this.#folders.add(real);
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

function placed<Found extends ContentItem | UnusableContent>(item: Found, origin: Source, top: string): Found {
  if ("problem" in item) return item;
  return {
    ...item,
    source: join(origin.root, origin.base),
    name: relative(top, item.path).replaceAll(sep, "/"),
    ...(origin.optional && { optional: true }),
    ...(origin.plugin !== undefined && { plugin: origin.plugin }),
    ...(origin.isAbove && { isAbove: true }),
  };
}

function slashes(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}
