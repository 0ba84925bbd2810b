/**
 * Whether a folder could have content: checks only names, so that a start in a folder without content
 * loads none of the code that reads, compares and asks.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ContentKind } from "./content.js";
import type { DiscoverOptions } from "./discover.js";
import { isThere } from "./is-there.js";
import { instructionPlaces, type Place } from "./places.js";
import { projectFolders, type Source, userSources, wantedPlaces } from "./sources.js";

/** `folder` must be free of links. */
export function mayHoldContent(options: DiscoverOptions): boolean {
  const { folder, home, sources: names, kinds, profile } = options;
  const holds = (source: Source) => {
    const at = join(source.root, source.base);
    if (source.base !== "" && !isThere(at)) return false;
    return wantedPlaces(source, kinds).some((place) =>
      isInUse(join(at, place.path), { place, source, kinds, profile }),
    );
  };
  if (userSources(folder, home, names).some(holds)) return true;
  return projectFolders(folder, options).some(({ origin, sources, hasInstructions }) => {
    return (hasInstructions && holds({ ...origin, places: instructionPlaces(names) })) || sources.some(holds);
  });
}

interface Asked {
  readonly place: Place;
  readonly source: Source;
  readonly kinds: ReadonlySet<ContentKind> | undefined;
  readonly profile: string | undefined;
}

function isInUse(at: string, { place: { kind, shape }, source: { owner }, kinds, profile }: Asked): boolean {
  const isOne = shape === "profiles" && profile !== undefined;
  const path = isOne ? join(at, `${profile}.toml`) : at;
  if (!isThere(path)) return false;
  const onlyEntries = shape === "servers" || (kind === "profile" && owner === "user");
  if (!onlyEntries) return true;
  const names = shape === "profiles" && !isOne ? namesIn(path) : [path];
  return names.some((file) => mayList(file, kinds));
}

const MAX_READ = 1024 * 1024;

/** Almost every user has a profile or the settings of another tool; few of them start programs. */
function mayList(file: string, kinds: ReadonlySet<ContentKind> | undefined): boolean {
  try {
    const stat = statSync(file);
    // A pipe would block.
    if (!stat.isFile() || stat.size > MAX_READ) return true;
    const text = readFileSync(file, "utf8");
    const wants = (kind: ContentKind) => kinds === undefined || kinds.has(kind);
    return (wants("event-hooks") && /hooks|\\u/i.test(text)) || (wants("mcp") && mayListServers(file, text));
  } catch {
    return true;
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
