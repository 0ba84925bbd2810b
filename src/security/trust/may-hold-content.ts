/**
 * Whether a folder could have content: checks only names, so that a start in a folder without content
 * loads none of the code that reads, compares and asks.
 */
import { join } from "node:path";
import type { DiscoverOptions } from "./discover.js";
import { foldersUpward } from "./folders.js";
import { isThere } from "./is-there.js";
import { instructionPlaces, PROJECT_PLACES, SOURCE_FOLDER, SOURCE_PLACES } from "./places.js";

/** `folder` must be free of links. */
export function mayHoldContent({ folder, home, stopAt, sources, kinds }: DiscoverOptions): boolean {
  const namesOf = (places: typeof SOURCE_PLACES) =>
    places.filter(({ kind }) => kinds === undefined || kinds.has(kind)).map(({ path }) => path);
  const ofSource = namesOf(SOURCE_PLACES);
  if (ofSource.some((name) => isThere(join(home.config, name)))) return true;
  const ofFolder = namesOf([...instructionPlaces(sources), ...PROJECT_PLACES]);
  return foldersUpward(folder, stopAt).some(({ root, base }) => {
    const holds = (names: readonly string[], at: string) => names.some((name) => isThere(join(at, name)));
    const here = join(root, base);
    const source = join(here, SOURCE_FOLDER);
    return holds(ofFolder, here) || (isThere(source) && holds(ofSource, source));
  });
}
