/**
 * Decides whether a folder could have content: checks only names, so that a start in a folder without content
 * loads none of the code that reads, compares and asks.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ContentKind } from "./content.js";
import type { DiscoverOptions } from "./discover.js";
import { isThere } from "./is-there.js";
import { instructionPlaces, isClaudeSettings } from "./places.js";
import { projectFolders, type Source, userSources, wantedPlaces } from "./sources.js";

/** A file or folder, and the wanted kinds that it may hold. */
export interface PathInUse {
  readonly path: string;
  readonly kinds: readonly ContentKind[];
}

/** `folder` must be free of links. */
export function mayHoldContent(options: DiscoverOptions): boolean {
  return pathsInUse(options).next().done !== true;
}

/** In the order of the search. */
export function* pathsInUse(options: DiscoverOptions): Generator<PathInUse> {
  const { folder, home, sources: names } = options;
  for (const source of userSources(folder, home, names)) yield* pathsIn(source, options);
  for (const { origin, sources, hasInstructions } of projectFolders(folder, options)) {
    if (hasInstructions) yield* pathsIn({ ...origin, places: instructionPlaces(names) }, options);
    for (const source of sources) yield* pathsIn(source, options);
  }
}

function* pathsIn(source: Source, { kinds: wanted, profile }: DiscoverOptions): Generator<PathInUse> {
  const at = join(source.root, source.base);
  if (source.base !== "" && !isThere(at)) return;
  for (const { path, kind, also = [], shape } of wantedPlaces(source, wanted)) {
    const isOne = shape === "profiles" && profile !== undefined;
    const place = join(at, path, isOne ? `${profile}.toml` : "");
    if (!isThere(place)) continue;
    const kinds = [kind, ...also].filter((each) => wanted === undefined || wanted.has(each));
    const onlyEntries = shape === "servers" || (kind === "profile" && source.owner === "user");
    const files = onlyEntries && shape === "profiles" && !isOne ? namesIn(place) : [place];
    for (const file of files) {
      const held = onlyEntries ? kindsListed(file, kinds) : kinds;
      if (held.length > 0) yield { path: file, kinds: held };
    }
  }
}

const MAX_READ = 1024 * 1024;

/** Almost every user has a profile or the settings of another tool; few of them start programs. */
function kindsListed(file: string, kinds: readonly ContentKind[]): readonly ContentKind[] {
  const mayRestrict = isClaudeSettings(file);
  const entries = kinds.filter(
    (kind) => kind === "event-hooks" || kind === "mcp" || (mayRestrict && kind === "profile"),
  );
  try {
    const stat = statSync(file);
    // A pipe would block.
    if (!stat.isFile() || stat.size > MAX_READ) return entries;
    const text = readFileSync(file, "utf8");
    return entries.filter((kind) => {
      if (kind === "profile") return /"(?:ask|deny)"\s*:\s*\[\s*[^\]\s]|\\u/.test(text);
      return kind === "mcp" ? mayListServers(file, text) : /hooks|\\u/i.test(text);
    });
  } catch {
    return entries;
  }
}

/** Claude Code writes an empty list for each project. */
function mayListServers(file: string, text: string): boolean {
  if (file.endsWith("mcp.json")) return true;
  const filled = /mcp_?servers"\s*:\s*[{[]\s*[^}\]\s]|\\u/i;
  return (file.endsWith(".json") ? filled : /mcp_?servers|\\u/i).test(text);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [folder];
  }
}
