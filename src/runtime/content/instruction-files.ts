/** Decides which instruction files of a place the model gets, which not, and why. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Variables } from "../../base/variables.js";
import { type ContentItem, type ContentKind, keyOf } from "../../security/trust/content.js";
import { discoverContent } from "../../security/trust/discover.js";
import { withSources } from "../../security/trust/places.js";
import { reviewContent } from "../../security/trust/review.js";
import { homeFolder } from "../../system/xdg-paths.js";
import type { LoadedSettings } from "../settings/settings.js";
import { openApprovals } from "./approvals.js";
import { discoverOptions } from "./content-options.js";
import { importsOf } from "./instruction-imports.js";

export interface InstructionFile {
  readonly path: string;
  readonly state: "read" | "waiting" | "refused" | "not read";
  /** Ends the sentence "It is not read: …", or says how it is read. */
  readonly why?: string;
}

interface InstructionsPlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
}

const INSTRUCTIONS: ReadonlySet<ContentKind> = new Set(["instructions"]);
/** Lists what other tools read in every project. */
const OTHER_HOMES = [".claude/CLAUDE.md", ".codex/AGENTS.md", ".gemini/GEMINI.md", ".qwen/QWEN.md"];
const NOT_LISTED = "not in context_sources";

/** In the order in which the model gets them; then those that it does not get. */
export async function listInstructions(place: InstructionsPlace): Promise<readonly InstructionFile[]> {
  const { loaded, variables, root } = place;
  const { sources, ...options } = { ...discoverOptions(place), kinds: INSTRUCTIONS };
  const found = await discoverContent({ ...options, sources, importsOf });
  const review = await reviewContent(found, openApprovals(root, { roots: loaded.roots, variables }));
  const keys = (items: readonly ContentItem[]) => new Set(items.map(keyOf));
  const approved = keys([...review.approved, ...review.minorChanges.map(({ item }) => item)]);
  const refused = keys(review.refused.map(({ item }) => item));
  const used = found.items.map((item): InstructionFile => {
    const key = keyOf(item);
    const state = approved.has(key) ? "read" : refused.has(key) ? "refused" : "waiting";
    return { path: pathOf(item), state, ...(item.imported && { why: "included by another one" }) };
  });
  const unusable = review.unusable.map(({ root: top, path, problem }): InstructionFile => {
    return { path: join(top, path), state: "not read", why: `it ${problem}` };
  });
  const { items: all } = await discoverContent(options);
  const known = new Set(found.items.map(realPathOf));
  const others = all.filter((item) => !known.has(realPathOf(item)));
  return [...used, ...unusable, ...others.map((item) => unread(item, found.items)), ...ofOtherTools(variables)];
}

/** A line of the profile that lists the files which no list names; undefined if there are none. */
export function wantedSources(files: readonly InstructionFile[], { loaded, root }: InstructionsPlace) {
  const names = files.filter(({ why }) => why === NOT_LISTED).map(({ path }) => sourceName(path, root));
  if (names.length === 0) return undefined;
  const listed = withSources(loaded.settings.context_sources.value, names);
  return `context_sources = [${listed.map((name) => JSON.stringify(name)).join(", ")}] in ${loaded.profilePath}`;
}

function unread(item: ContentItem, read: readonly ContentItem[]): InstructionFile {
  const beside = read.filter((other) => dirname(pathOf(other)) === dirname(pathOf(item)));
  const same = beside.find(({ sha256 }) => sha256 === item.sha256);
  const override = beside.find(({ path }) => basename(path) === "AGENTS.override.md");
  const isOverridden = override !== undefined && basename(item.path) === "AGENTS.md";
  const why =
    same !== undefined
      ? `the same text as ${basename(same.path)}`
      : isOverridden
        ? "AGENTS.override.md replaces it"
        : NOT_LISTED;
  return { path: pathOf(item), state: "not read", why };
}

function ofOtherTools(variables: Variables): readonly InstructionFile[] {
  const home = homeFolder(variables);
  if (home === undefined) return [];
  return OTHER_HOMES.map((name) => join(home, name))
    .filter((path) => existsSync(path))
    .map((path) => ({ path, state: "not read", why: "a file of another tool; yours for Oxbow is ~/AGENTS.md" }));
}

/** As `context_sources` names it: a rule by its folder, a file by its name in its folder. */
function sourceName(path: string, root: string): string {
  const folders = [".cursor/rules", ".windsurf/rules", ".github/instructions", ".claude/rules", ".kiro/steering"];
  const folder = folders.find((each) => path.includes(`/${each}/`));
  if (folder !== undefined) return folder;
  const parent = basename(dirname(path));
  return parent.startsWith(".") && dirname(path) !== root ? `${parent}/${basename(path)}` : basename(path);
}

function pathOf({ root, path }: ContentItem): string {
  return join(root, path);
}

function realPathOf(item: ContentItem): string {
  return item.target ?? pathOf(item);
}
