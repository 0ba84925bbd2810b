/**
 * Named pipes at names that git and ripgrep open by themselves: they wait forever for a writer. Looking for one costs time, so it is done
 * only when such a program has been silent for a while.
 */
import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";

const OPENED = new Set(".gitignore .gitattributes .gitmodules .mailmap .ignore .rgignore".split(" "));
const MOST_FOLDERS = 20_000;
/** Of its own folder git reads many files. */
const GIT_FOLDER = /(^|[\\/])\.git$/;
/** Content without names that git looks for. */
const CONTENT = new Set(["objects", "lfs"]);

/** The nearest one, relative to the folder; undefined if there is none among the nearest folders. */
export async function findWaitingPipe(
  root: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<string | undefined> {
  const waiting = [{ folder: root, isGit: false }];
  for (const { folder, isGit } of waiting) {
    if (signal.aborted) return undefined;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isFIFO() && (isGit || OPENED.has(entry.name))) return relative(root, path).replaceAll(sep, "/");
      if (!entry.isDirectory() || waiting.length >= MOST_FOLDERS || (isGit && CONTENT.has(entry.name))) continue;
      waiting.push({ folder: path, isGit: isGit || GIT_FOLDER.test(path) });
    }
  }
  return undefined;
}

export interface PipeWatchOptions {
  readonly root: string;
  /** Says how long the program may be silent before the search. */
  readonly silentMs: number;
  readonly onFound: (path: string) => void;
}

/** Searches once, when the program was silent for long enough. */
export class PipeWatch {
  readonly #stopped = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor({ root, silentMs, onFound }: PipeWatchOptions) {
    this.#timer = setTimeout(async () => {
      const found = await findWaitingPipe(root, { signal: this.#stopped.signal });
      if (found !== undefined && !this.#stopped.signal.aborted) onFound(found);
    }, silentMs);
  }

  /** The program wrote something. */
  heard(): void {
    if (!this.#stopped.signal.aborted) this.#timer.refresh();
  }

  stop(): void {
    this.#stopped.abort();
    clearTimeout(this.#timer);
  }
}
