/** The files in git's index that hold secrets, by their names. Read without git. */
import { dirname, join, relative } from "node:path";
import { sensitiveReason } from "../../base/sensitive-path.js";
import { gitFolderAround } from "../../system/git/git-folder.js";
import { readIndexHashes } from "../../system/git/index-file.js";
import { stampOf } from "../../system/git/settings-files.js";

export interface TrackedSecret {
  /** Relative to the workspace, with forward slashes; it may lie above. */
  readonly path: string;
  readonly reason: string;
  /** The object that holds its content. */
  readonly hash: string;
}

export type TrackedSecrets = () => readonly TrackedSecret[];

/** The index is read again when it changed. Nothing is known of an index that is not understood: git asks in such a repository. */
export function trackedSecrets(root: string): TrackedSecrets {
  let known: { readonly stamp: string; readonly secrets: readonly TrackedSecret[] } | undefined;
  return () => {
    const around = gitFolderAround(root);
    const [config] = around?.configs ?? [];
    if (around === undefined || config === undefined) return [];
    const index = join(dirname(config), "index");
    const stamp = stampOf([index]);
    if (known?.stamp !== stamp) known = { stamp, secrets: secretsIn(index, relative(root, around.top)) };
    return known.secrets;
  };
}

function secretsIn(index: string, top: string): readonly TrackedSecret[] {
  return [...(readIndexHashes(index) ?? [])].flatMap(([tracked, hash]) => {
    const reason = sensitiveReason(tracked);
    return reason === undefined ? [] : [{ path: join(top, tracked).replaceAll("\\", "/"), reason, hash }];
  });
}
