/**
 * What a program that goes on running sees: the live folders read-only, so that it finds later edits, and some folders in them that it may
 * change. Each is mounted in the namespaces of the session's holder first, and its device and inode are compared then: a folder that was
 * swapped meanwhile is never shown.
 */
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { SYSTEM_PATH } from "../../base/system-path.js";
import { newViewFolder, removeView, unmount, type ViewedFolder } from "./overlay-view.js";
import type { SpaceMounting } from "./session-space.js";

export interface LiveViewOptions {
  readonly mounting: SpaceMounting;
  /** Oxbow's own folder for the sandbox. */
  readonly folder: string;
  /** Free of links; the outer ones first. */
  readonly folders: readonly Pick<ViewedFolder, "path" | "access">[];
}

const MOUNT = `path=$PATH
PATH=${SYSTEM_PATH}
while [ "$1" != -- ]; do
  mount --bind "$1" "$3" || exit 125
  [ "$(stat -c %d:%i "$3")" = "$2" ] || { echo "oxbow: the folder $1 was replaced" >&2; exit 125; }
  shift 3
done
shift
PATH=$path
exec "$@"`;

export class LiveView {
  /** Oxbow's folder of this view, on the disk. */
  readonly folder: string;
  readonly folders: readonly ViewedFolder[];
  readonly #mounting: SpaceMounting;
  readonly #identities: readonly string[];

  constructor({ mounting, folder, folders }: LiveViewOptions) {
    this.#mounting = mounting;
    this.folder = newViewFolder(folder);
    this.folders = folders.map((each, index) => ({ ...each, merged: join(this.folder, String(index)) }));
    this.#identities = folders.map(({ path }) => {
      const { dev, ino } = statSync(path, { bigint: true });
      return `${dev}:${ino}`;
    });
    for (const { merged } of this.folders) mkdirSync(merged, { mode: 0o700 });
  }

  /** The words in front of the program that the view is for. */
  get words(): readonly string[] {
    const mounts = this.folders.flatMap(({ path, merged }, index) => [path, this.#identities[index] ?? "", merged]);
    return ["/bin/sh", "-c", MOUNT, "view", ...mounts, "--"];
  }

  async close(): Promise<void> {
    await unmount(this.#mounting, this.folders);
    removeView(this.folder);
  }
}
