/**
 * Reports which entries of a folder changed since the last call, without checking every one.
 *
 * 1. The system reports changes in their order. A file that we make and remove ourselves comes after every earlier change:
 *    once the report about it is here, the reports about those are here too.
 * 2. If that is not reliable there is no watch, and the caller checks every file: systems other than Linux, file
 *    systems that other machines write to, a system without watches to spare, a folder that was replaced.
 */
import { type FSWatcher, watch } from "node:fs";
import { open, statfs, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";

/** File systems that no other machine writes to: ext, xfs, btrfs, tmpfs, overlay, f2fs, zfs, bcachefs. */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e]);
const REPORT_MS = 250;
/** More touched entries than this are not worth remembering. */
const MOST_TOUCHED = 10_000;

export interface FolderWatchOptions {
  readonly clock: Clock;
  /** The names that count; others may come and go. */
  readonly counts: (name: string) => boolean;
}

export class FolderWatch {
  readonly #folder: string;
  readonly #options: FolderWatchOptions;
  readonly #watcher: FSWatcher;
  readonly #waiting = new Map<string, () => void>();
  readonly #touched = new Set<string>();
  #failed = false;

  private constructor(folder: string, watcher: FSWatcher, options: FolderWatchOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#watcher = watcher;
    watcher.on("change", (_kind, name) => this.#take(String(name)));
    watcher.on("error", () => this.close());
    watcher.unref();
  }

  /** Undefined when changes cannot be followed here. */
  static async begin(folder: string, options: FolderWatchOptions): Promise<FolderWatch | undefined> {
    if (process.platform !== "linux") return undefined;
    try {
      const { type } = await statfs(folder);
      if (!LOCAL.has(type >>> 0)) return undefined;
      return new FolderWatch(folder, watch(folder, { persistent: false }), options);
    } catch {
      return undefined;
    }
  }

  /** The entries that changed so far; reports about the last moment may be missing. Undefined when that is not known. */
  get touched(): ReadonlySet<string> | undefined {
    return this.#failed ? undefined : this.#touched;
  }

  /** The entries that changed up to this call. Undefined when that is not known; then the watch has ended. */
  async upToNow(mark: string): Promise<ReadonlySet<string> | undefined> {
    if (!this.#failed && !(await this.#reported(mark))) this.close();
    return this.touched;
  }

  /** The caller has handled these. */
  forget(names: Iterable<string>): void {
    for (const name of names) this.#touched.delete(name);
  }

  close(): void {
    this.#failed = true;
    this.#watcher.close();
    for (const resolve of this.#waiting.values()) resolve();
  }

  /** Tells whether the report about our own file has arrived. */
  async #reported(mark: string): Promise<boolean> {
    let stop = () => {};
    const report = new Promise<boolean>((resolve) => {
      this.#waiting.set(mark, () => resolve(!this.#failed));
      stop = this.#options.clock.after(REPORT_MS, () => resolve(false));
    });
    try {
      const path = join(this.#folder, mark);
      await (await open(path, "wx", 0o600)).close();
      await unlink(path);
      return await report;
    } catch {
      return false;
    } finally {
      stop();
      this.#waiting.delete(mark);
    }
  }

  #take(name: string): void {
    this.#waiting.get(name)?.();
    if (!this.#options.counts(name)) return;
    this.#touched.add(name);
    if (this.#touched.size > MOST_TOUCHED) this.close();
  }
}
