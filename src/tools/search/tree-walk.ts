/**
 * Walks a folder of the workspace without ripgrep: the same files, in no particular order. Symbolic links are neither
 * followed nor reported; folders are entered through descriptors (see held-directory).
 */
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { HeldDirectory } from "../files/held-directory.js";
import { type IgnoreTop, loadScope, scopeAbove } from "./ignore-files.js";
import { HIDDEN_ALWAYS, type IgnoreScope } from "./ignore-rules.js";

export interface VisitedFolder {
  /** Relative to the start with forward slashes, with a slash at the end; empty for the start itself. */
  readonly prefix: string;
  readonly files: readonly string[];
  /** The path to open a file of this folder. */
  at(name: string): string;
}

export interface WalkOptions extends IgnoreTop {
  readonly signal: AbortSignal;
}

const PARALLEL = 8;

/** Calls `visit` for every folder below `start` that is not ignored, several at a time. */
export async function walkTree(
  start: string,
  options: WalkOptions,
  visit: (folder: VisitedFolder) => Promise<void>,
): Promise<void> {
  const waiting: Pending[] = [{ path: start, prefix: "", parent: await scopeAbove(start, options) }];
  await new Promise<void>((resolve, reject) => {
    let active = 0;
    const proceed = (): void => {
      if (options.signal.aborted) {
        reject(options.signal.reason);
        return;
      }
      while (active < PARALLEL && waiting.length > 0) {
        active++;
        enter(waiting.pop() as Pending, options, visit).then((below) => {
          active--;
          waiting.push(...below);
          proceed();
        }, reject);
      }
      if (active === 0) resolve();
    };
    proceed();
  });
}

interface Pending {
  readonly path: string;
  readonly prefix: string;
  readonly parent: IgnoreScope | undefined;
}

async function enter(
  folder: Pending,
  top: IgnoreTop,
  visit: (folder: VisitedFolder) => Promise<void>,
): Promise<readonly Pending[]> {
  // Entries that vanished or cannot be read are skipped, as ripgrep does.
  const held = await HeldDirectory.open(folder.path, folder.path).catch(() => undefined);
  if (held === undefined) return [];
  try {
    const entries = await readdir(held.path, { withFileTypes: true });
    const names = new Set(entries.map((entry) => entry.name));
    const at = (name: string) => held.at(name);
    const scope = await loadScope({ name: basename(folder.path), parent: folder.parent, top, names, at });
    const files: string[] = [];
    const below: Pending[] = [];
    for (const entry of entries) {
      if (HIDDEN_ALWAYS.has(entry.name)) continue;
      if (entry.isFile() && !scope.ignores(entry.name, "file")) files.push(entry.name);
      if (entry.isDirectory() && !scope.ignores(entry.name, "folder")) {
        const prefix = `${folder.prefix}${entry.name}/`;
        below.push({ path: join(folder.path, entry.name), prefix, parent: scope });
      }
    }
    if (files.length > 0) await visit({ prefix: folder.prefix, files, at });
    return below;
  } finally {
    await held.close();
  }
}
