/**
 * Finds the folders below a workspace that hold a repository or are one, at any depth. A folder is listed again only when its change
 * time has moved: nothing comes into being in it without moving that, and no program can set it back.
 *
 * Folders named `node_modules` are left out, because they are large: git enters a repository in them only when the index says so.
 */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

const SKIPPED = new Set(["node_modules", ".git"]);
const MAX_FOLDERS = 100_000;
/** So long this process may be kept from other things. */
const SLICE_MS = 5;
/** Longer than a tick of a file system's clock. */
const TICK_MS = 50;

interface Listing {
  readonly changed: number;
  readonly inode: number;
  readonly isRepository: boolean;
  readonly subfolders: readonly string[];
}

export class FolderWalk {
  readonly #root: string;
  #listings = new Map<string, Listing>();

  /** `root` must be free of links. */
  constructor(root: string) {
    this.#root = root;
  }

  /** `complete` is false when there are more folders than are looked through. */
  async repositories(): Promise<{ readonly folders: readonly string[]; readonly complete: boolean }> {
    const listings = new Map<string, Listing>();
    const folders: string[] = [];
    const waiting = [this.#root];
    let sliceEnds = performance.now() + SLICE_MS;
    for (let next = 0; next < waiting.length && next < MAX_FOLDERS; next++) {
      if (performance.now() > sliceEnds) {
        await setImmediate();
        sliceEnds = performance.now() + SLICE_MS;
      }
      const folder = waiting[next] ?? "";
      const listing = this.#listing(folder);
      if (listing === undefined) continue;
      listings.set(folder, listing);
      if (listing.isRepository) folders.push(folder);
      for (const name of listing.subfolders) waiting.push(join(folder, name));
    }
    this.#listings = listings;
    return { folders, complete: waiting.length <= MAX_FOLDERS };
  }

  #listing(folder: string): Listing | undefined {
    try {
      const { ctimeMs, ino } = lstatSync(folder);
      const known = this.#listings.get(folder);
      if (known !== undefined && known.changed === ctimeMs && known.inode === ino) return known;
      const entries = readdirSync(folder, { withFileTypes: true });
      const names = new Set(entries.map(({ name }) => name));
      return {
        changed: Date.now() - ctimeMs > TICK_MS ? ctimeMs : Number.NaN,
        inode: ino,
        isRepository: names.has(".git") || (names.has("HEAD") && (names.has("objects") || names.has("commondir"))),
        subfolders: entries.filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name)).map(({ name }) => name),
      };
    } catch {
      // Gone, or closed to this person.
      return undefined;
    }
  }
}
