/**
 * What a program that goes on running sees: the live folders read-only, so that it finds later edits, and some folders in them that it may
 * change. Each is mounted in the namespaces of the session's holder first, and its device and inode are compared then: a folder that was
 * swapped meanwhile is never shown.
 */
import { statSync } from "node:fs";
import { SYSTEM_PATH } from "../../base/system-path.js";
import type { ViewedFolder } from "./overlay-view.js";
import type { SpaceMounting } from "./session-space.js";

export interface LiveViewOptions {
  readonly mounting: SpaceMounting;
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
  readonly folders: readonly ViewedFolder[];
  readonly #mounting: SpaceMounting;
  readonly #identities: readonly string[];

  constructor({ mounting, folders }: LiveViewOptions) {
    this.#mounting = mounting;
    this.folders = folders.map((each) => ({ ...each, merged: mounting.takePoint() }));
    this.#identities = folders.map(({ path }) => {
      const { dev, ino } = statSync(path, { bigint: true });
      return `${dev}:${ino}`;
    });
  }

  /** The words in front of the program that the view is for. */
  get words(): readonly string[] {
    const mounts = this.folders.flatMap(({ path, merged }, index) => [path, this.#identities[index] ?? "", merged]);
    return ["/bin/sh", "-c", MOUNT, "view", ...mounts, "--"];
  }

  async close(): Promise<void> {
    // The last one may lie on an earlier one.
    await this.#mounting.freePoints(this.folders.map(({ merged }) => merged).toReversed());
  }
}
