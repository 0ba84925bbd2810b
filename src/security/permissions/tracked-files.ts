/** The files that git tracks, by its index, read without git: all of them, and those that hold secrets by their names. */
import { dirname, join, relative } from "node:path";
import { sensitiveReason } from "../../base/sensitive-path.js";
import { gitFolderAround } from "../../system/git/git-folder.js";
import { readIndexHashes } from "../../system/git/index-file.js";
import { stampOf } from "../../system/git/settings-files.js";
import { isWithin } from "../../system/within.js";

export interface TrackedSecret {
  /** Relative to the workspace, with forward slashes; it may lie above. */
  readonly path: string;
  readonly reason: string;
  /** The object that holds its content. */
  readonly hash: string;
}

export type TrackedSecrets = () => readonly TrackedSecret[];

/** The tracked files of the workspace's repository, and of those around the given paths. All paths are relative to the workspace. */
export type TrackedFiles = (paths: readonly string[]) => Iterable<string>;

/** The index is read again when it changed. Nothing is known of an index that is not understood: git asks in such a repository. */
export function trackedSecrets(root: string): TrackedSecrets {
  let known: { readonly stamp: string; readonly secrets: readonly TrackedSecret[] } | undefined;
  return () => {
    const found = indexAround(root);
    if (found === undefined) return [];
    const stamp = stampOf([found.index]);
    if (known?.stamp !== stamp) known = { stamp, secrets: secretsIn(found.index, relative(root, found.top)) };
    return known.secrets;
  };
}

/** Read anew each time: few commands delete. */
export function trackedFiles(root: string): TrackedFiles {
  return function* (paths) {
    const folders = [root, ...paths.map((path) => join(root, path))];
    const indexes = new Map(
      folders.flatMap((folder) => {
        const found = indexAround(folder);
        return found === undefined ? [] : [[found.index, found.top] as const];
      }),
    );
    for (const [index, top] of indexes) {
      for (const tracked of readIndexHashes(index)?.keys() ?? []) {
        const path = join(top, tracked);
        if (isWithin(path, root)) yield relative(root, path).replaceAll("\\", "/");
      }
    }
  };
}

function indexAround(folder: string): { readonly index: string; readonly top: string } | undefined {
  const around = gitFolderAround(folder);
  const [config] = around?.configs ?? [];
  if (around === undefined || config === undefined) return undefined;
  return { index: join(dirname(config), "index"), top: around.top };
}

function secretsIn(index: string, top: string): readonly TrackedSecret[] {
  return [...(readIndexHashes(index) ?? [])].flatMap(([tracked, hash]) => {
    const reason = sensitiveReason(tracked);
    return reason === undefined ? [] : [{ path: join(top, tracked).replaceAll("\\", "/"), reason, hash }];
  });
}
