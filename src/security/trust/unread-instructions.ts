/** A hint for a folder with instruction files of another tool, which the settings do not list. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Setting } from "../../feature/setting.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { alternativesOf, instructionPlaces, withSources } from "./places.js";

const MOST_BYTES = 256 * 1024;

interface UnreadPlace {
  readonly settings: { readonly context_sources: Setting<readonly string[]> };
  readonly profilePath: string;
}

/** Undefined if there is nothing to say. */
export function unreadInstructions({ settings, profilePath }: UnreadPlace, root: string): string | undefined {
  const { value: listed, origin } = settings.context_sources;
  if (origin !== "default") return undefined;
  const isHere = (name: string) => existsSync(join(root, name));
  const read = listed.flatMap((source) => alternativesOf(source).filter(isHere).slice(0, 1));
  const found = instructionPlaces(undefined).find(
    ({ path }) => !read.includes(path) && isHere(path) && !isCovered(path, { root, read }),
  );
  if (found === undefined) return undefined;
  const wanted = withSources(listed, [found.path])
    .map((name) => JSON.stringify(name))
    .join(", ");
  return `${found.path} is not read here. To read it, write context_sources = [${wanted}] into ${profilePath}.`;
}

/** A link to a file that is read, a copy of it, or a file that refers to it has nothing that the model lacks. */
function isCovered(path: string, { root, read }: { readonly root: string; readonly read: readonly string[] }): boolean {
  if (read.length === 0) return false;
  const full = join(root, path);
  if (read.some((name) => realpathOrSelf(join(root, name)) === realpathOrSelf(full))) return true;
  const text = textOf(full);
  return text !== undefined && read.some((name) => text.includes(name) || text === textOf(join(root, name)));
}

/** Undefined for a folder, a pipe and a large file. */
function textOf(path: string): string | undefined {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= MOST_BYTES ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
