/**
 * Notes since when commands have run in a workspace without a scan after them. An Oxbow that is killed cannot scan any more: the next one
 * in the workspace finds the note, and treats everything that appeared since then as left behind by commands.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { namesIn } from "../../system/names-in.js";
import { isGone, processMark } from "../../system/process-identity.js";

const NOTE = /^planted-(\d+\.\d+)-\d+\.json$/;
let count = 0;

export class WatchRecord {
  readonly #folder: string;
  readonly #root: string;
  readonly #file: string;

  constructor(folder: string, root: string) {
    this.#folder = folder;
    this.#root = root;
    this.#file = join(folder, `planted-${processMark()}-${++count}.json`);
  }

  /** Notes that commands run from now on, and returns the time since which nothing was scanned. */
  take(now: number): number {
    const left = this.#leftOver();
    const since = Math.min(now, ...left.map((record) => record.since));
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeFileSync(this.#file, JSON.stringify({ root: this.#root, since }), { mode: 0o600 });
      for (const { file } of left) rmSync(file, { force: true });
    } catch {
      // Without the note, the next Oxbow misses only the files of a killed run.
    }
    return since;
  }

  remove(): void {
    rmSync(this.#file, { force: true });
  }

  #leftOver(): readonly { readonly file: string; readonly since: number }[] {
    return namesIn(this.#folder).flatMap((name) => {
      const mark = NOTE.exec(name)?.[1];
      if (mark === undefined || !isGone(mark)) return [];
      const file = join(this.#folder, name);
      const record = readRecord(file);
      return record?.root === this.#root && typeof record.since === "number" ? [{ file, since: record.since }] : [];
    });
  }
}

function readRecord(file: string): { readonly root?: unknown; readonly since?: unknown } | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as { root?: unknown; since?: unknown };
  } catch {
    return undefined;
  }
}
