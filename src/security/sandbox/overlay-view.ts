/**
 * A view of folders for one command: an overlay over each, whose lower layer is the real folder. What the command writes goes into a folder of
 * Oxbow's own; nothing in the real folder changes.
 *
 * 1. The overlays are mounted in the namespaces of the session's holder (session-space.ts), right before the command's own sandbox is made,
 *    by the process that then becomes it. Oxbow sees them below `/proc/PID/root`.
 * 2. The lower layer is a mount of the real folder that the session keeps (`SpaceMounting.pin`), never a name: a folder that was swapped is never
 *    mounted, and nothing is applied to it.
 * 3. Hidden names are whiteouts of a layer between both: they do not exist in the view. The views of a sandbox share that layer.
 * 4. A view is `volatile`: `fsync` of a command waits for nothing, and neither does the end of the view, which would otherwise write out the whole
 *    file system. What is applied is written out then.
 * 5. The folder of a view is named after the process that made it. The next Oxbow removes those of killed ones, or finishes applying them.
 */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, linkSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { SYSTEM_PATH } from "../../base/system-path.js";
import { mountsHere } from "../../system/mounts.js";
import { dropPlan, hasPlan } from "../../system/overlay/apply-changes.js";
import {
  type ChangeSet,
  type ChangeSetOptions,
  type HeldEntry,
  type IgnoreSource,
  look,
  readChangeSet,
} from "../../system/overlay/change-set.js";
import { fsPath, namesIn } from "../../system/path-bytes.js";
import { isGone, processMark } from "../../system/process-identity.js";
import { foldersOnWay, isWithin } from "../../system/within.js";
import { secretEntries } from "../guard-list/secret-entries.js";
import { run } from "./run.js";
import {
  type FolderPin,
  folderIdentity,
  MOUNTED,
  newOwnFolder,
  removeMountFolder,
  type SpaceMounting,
} from "./session-space.js";

export interface ViewedFolder {
  /** The real folder, free of links. */
  readonly path: string;
  /** Where it is mounted, in the holder's namespaces. */
  readonly merged: string;
  readonly access: "writable" | "read-only";
}

/** Holds what a command changed in one folder. */
export interface ViewedChanges extends ChangeSet {
  readonly root: string;
  readonly upper: string;
  /** Whether the view hid this name. From the root. */
  isHidden(path: string): boolean;
}

export interface ViewOptions {
  readonly mounting: SpaceMounting;
  /** Oxbow's own folder for the sandbox. */
  readonly folder: string;
  /** Free of links, none within another. */
  readonly roots: readonly string[];
  /** Absolute paths whose names the view does not have. */
  readonly hidden: readonly string[];
  readonly hideLayers: HideLayers;
  readonly access: ViewedFolder["access"];
}

const MOUNT = `path=$PATH
PATH=${SYSTEM_PATH}
while [ "$1" != -- ]; do
  mount -t overlay oxbow -o "$1" "$2" || exit 125
  shift 2
done
shift
PATH=$path
exec "$@"`;

interface Layers extends ViewedFolder {
  readonly pin: FolderPin;
  readonly upper: string;
  readonly work: string;
  readonly hide: string | undefined;
  readonly hidden: readonly string[];
}

export class OverlayView {
  /** Oxbow's folder of this view, on the disk. */
  readonly folder: string;
  readonly #layers: readonly Layers[];
  readonly #mounting: SpaceMounting;
  #isKept = false;
  #applied: readonly string[] | undefined;
  readonly #secrets: { readonly path: string; readonly entry: HeldEntry }[] = [];

  private constructor(folder: string, layers: readonly Layers[], mounting: SpaceMounting) {
    this.folder = folder;
    this.#layers = layers;
    this.#mounting = mounting;
  }

  static async make({ mounting, folder, roots, hidden, hideLayers, access }: ViewOptions): Promise<OverlayView> {
    const pins = await Promise.all(roots.map((path) => mounting.pin(path)));
    const own = newOwnFolder(join(folder, VIEWS));
    const layers = pins.map((pin, index) => {
      const { path } = pin;
      const place = join(own, String(index));
      const [upper, work] = [join(place, "upper"), join(place, "work")];
      const merged = mounting.takePoint();
      for (const each of [upper, work]) mkdirSync(each, { recursive: true, mode: 0o700 });
      // The mode of the view is the one of its upper layer.
      chmodSync(upper, statSync(path).mode & 0o7777);
      const inside = hidden.filter((each) => each !== path && isWithin(each, path)).map((each) => relative(path, each));
      return { path, pin, upper, work, merged, access, hide: hideLayers.layer(path, inside), hidden: inside };
    });
    return new OverlayView(own, layers, mounting);
  }

  get folders(): readonly ViewedFolder[] {
    return this.#layers;
  }

  /** The words in front of the program that the views are for. */
  get words(): readonly string[] {
    const mounts = this.#layers.flatMap(({ pin, upper, work, merged, hide }) => {
      const lower = hide === undefined ? pin.place : `${hide}:${pin.place}`;
      return [`lowerdir=${lower},upperdir=${upper},workdir=${work},userxattr,volatile`, merged];
    });
    return ["/bin/sh", "-c", MOUNT, "view", ...mounts, "--"];
  }

  /** What the command changed, by folder. All its processes have ended. */
  async read(ignore: IgnoreSource | undefined, limits?: ChangeSetOptions["limits"]): Promise<readonly ViewedChanges[]> {
    const sets = [];
    for (const { path, pin, upper, merged, hidden } of this.#layers) {
      if (folderIdentity(path) !== pin.identity) throw new Error(`the folder ${path} was replaced meanwhile`);
      const names = new Set(hidden);
      const isHidden = (each: string) =>
        names.size > 0 && (names.has(each) || foldersOnWay(each).some((above) => names.has(above)));
      const set = await readChangeSet({
        ...{ lower: path, upper, merged: join(this.#mounting.root, merged), ignore, limits },
        isHidden,
        hidesIn: (each) => hidden.some((name) => name.startsWith(`${each}/`)),
      });
      sets.push({ ...set, root: path, upper, isHidden });
      for (const { path: way, after } of set.changes)
        if (after?.kind === "file" && !isHidden(way) && hasSecretName(way))
          this.#secrets.push({ path: join(path, way), entry: after });
    }
    return sets;
  }

  /** The secret files that the command made, as far as they were applied. Absolute. */
  madeSecrets(): readonly string[] {
    return this.#secrets
      .filter(({ path, entry }) => {
        const found = look(path);
        return found?.isFile() === true && found.size === entry.size && Math.abs(found.mtimeMs - entry.mtimeMs) < 1;
      })
      .map(({ path }) => path);
  }

  /** A place on the file system of the layers for what is removed. */
  removedOf(root: string): string {
    const index = this.#layers.findIndex(({ path }) => path === root);
    return join(this.folder, String(index), "removed");
  }

  /** Whether the command wrote anything. Nothing of it is looked at. */
  get hasWritten(): boolean {
    return this.#layers.some(({ upper }) => namesIn(upper).length > 0);
  }

  /** All of its changes that pass are applied, in these real folders. */
  noteApplied(folders: readonly string[]): void {
    this.#applied = folders;
  }

  /** Leaves it as it is when its command has ended; `discard` closes it. */
  keep(): void {
    this.#isKept = true;
  }

  async discard(): Promise<void> {
    this.#isKept = false;
    await this.close();
  }

  async close(): Promise<void> {
    if (this.#isKept) return;
    if (this.#applied !== undefined) await dropPlan(this.folder, this.#applied);
    await this.#mounting.freePoints(this.#layers.map(({ merged }) => merged));
    // The next Oxbow finishes a plan that could not be carried out to its end.
    if (hasPlan(this.folder)) return;
    for (const { work } of this.#layers) openWork(work);
    // Whole folders were moved there.
    if (this.#layers.some(({ path }) => look(this.removedOf(path)))) removeLargeView(this.folder);
    else await removeView(this.folder);
  }
}

const VIEWS = "views";
/** The folders that an overlay makes for itself let no one in. */
function openWork(work: string): void {
  for (const way of ["work", "work/incompat", "work/incompat/volatile"]) {
    if (look(join(work, way)) !== undefined) chmodSync(join(work, way), 0o700);
  }
}

/** Says why no view of these folders can be made; undefined if one can. */
export async function whyNoView({
  mounting,
  folder,
  roots,
}: Pick<ViewOptions, "folder" | "roots"> & { readonly mounting: SpaceMounting | undefined }): Promise<
  string | undefined
> {
  if (mounting === undefined)
    return "the commands unshare, nsenter and mount of util-linux are missing or not allowed here.";
  if (/[,:\\]/.test(folder))
    return `the path of Oxbow's own folder (${folder}) has a comma, a colon or a backslash in it.`;
  if (roots.some((root) => isWithin(folder, root))) return "Oxbow's own folder lies in the workspace.";
  const inner = mountsHere().find(([place]) => roots.some((root) => place !== root && isWithin(place, root)));
  if (inner !== undefined) return `another file system is mounted in the workspace, at ${inner[0]}.`;
  const hideLayers = new HideLayers(folder);
  const view = await OverlayView.make({ mounting, folder, roots, hidden: [], hideLayers, access: "writable" });
  try {
    if (!isWhiteout(whiteoutIn(view.folder)))
      return "this system does not let an overlay hide files: mknod of a whiteout failed.";
    const { failure } = await run([...mounting.words, ...view.words, "true"]);
    return failure && `no overlay can be mounted over the workspace (${failure}).`;
  } finally {
    await view.close();
  }
}

/**
 * The views of Oxbows that have ended: what a crash left. This process takes them, so that no other one does the same work. `isMeant` adds
 * others.
 */
export function takeAbandonedViews(
  folder: string,
  isMeant: (view: string) => boolean = () => false,
): readonly string[] {
  const views = join(folder, VIEWS);
  for (const name of namesOf(join(folder, MOUNTED))) {
    if (isGone(markOf(name))) removeMountFolder(join(join(folder, MOUNTED), name));
  }
  const found = namesOf(views);
  return found.flatMap((name) => {
    const mark = markOf(name);
    if (!isGone(mark) && !isMeant(join(views, name))) return [];
    const own = join(views, `${processMark()}-${name.slice(mark.length + 1)}`);
    try {
      if (own !== join(views, name)) renameSync(join(views, name), own);
      return [own];
    } catch {
      // Another process was quicker.
      return [];
    }
  });
}

function namesOf(folder: string): readonly string[] {
  return look(folder) === undefined ? [] : readdirSync(folder);
}

function markOf(name: string): string {
  return name.slice(0, name.indexOf("-"));
}

/** A command may leave folders that their owner cannot look into, and paths that are too long for the kernel to take at once. */
export async function removeView(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    // What stays is left to the next Oxbow.
    await run(["/bin/sh", ...REMOVING(folder)]);
  }
}

/** As `removeView`, for a folder that may hold very many files: the engine does not wait for the end. */
function removeLargeView(folder: string): void {
  // If it is stopped, the next Oxbow goes on.
  const removing = spawn("/bin/sh", REMOVING(folder), {
    cwd: "/",
    detached: true,
    env: { PATH: SYSTEM_PATH },
    stdio: "ignore",
  });
  removing.on("error", () => removeView(folder));
  removing.unref();
}

const REMOVING = (folder: string) => [
  "-c",
  'rm -rf "$1" 2>&- || { chmod -R u+rwx "$1"; rm -rf "$1"; }',
  "remove",
  folder,
];

/** Folders of whiteouts. Nothing changes in one that was made, because views may use it. */
export class HideLayers {
  readonly #folder: string;
  readonly #made = new Map<string, { readonly key: string; readonly path: string }>();
  #own: string | undefined;
  #count = 0;

  /** Oxbow's own folder for the sandbox. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Undefined if nothing is to be hidden. Names are from the root. */
  layer(root: string, names: readonly string[]): string | undefined {
    if (names.length === 0) return undefined;
    // Nothing can be hidden below what is hidden itself.
    const all = new Set(names);
    const outer = names.filter((name) => !foldersOnWay(name).some((folder) => all.has(folder)));
    const modes = new Map(["", ...outer.flatMap(foldersOnWay)].map((folder) => [folder, modeOf(root, folder)]));
    const key = JSON.stringify([outer, [...modes]]);
    const known = this.#made.get(root);
    if (known?.key === key) return known.path;
    this.#own ??= newOwnFolder(join(this.#folder, VIEWS));
    const path = join(this.#own, String(this.#count++));
    makeWhiteouts(path, { names: outer, modes, newDevice: (at) => whiteoutIn(this.#own ?? "", `${path}.${at}`) });
    this.#made.set(root, { key, path });
    return path;
  }

  close(): void {
    if (this.#own !== undefined) rmSync(this.#own, { recursive: true, force: true });
    this.#own = undefined;
    this.#made.clear();
  }
}

/** A file can have so many names on every file system. */
const MOST_NAMES = 30_000;

interface Whiteouts {
  readonly names: readonly string[];
  /** By folder from the root, the outer ones first for each name. */
  readonly modes: ReadonlyMap<string, number>;
  newDevice(at: number): string;
}

function makeWhiteouts(hide: string, { names, modes, newDevice }: Whiteouts): void {
  for (const folder of modes.keys()) mkdirSync(fsPath(join(hide, folder)), { mode: 0o700 });
  let device = "";
  for (const [at, name] of names.entries()) {
    if (at % MOST_NAMES === 0) device = newDevice(at);
    linkSync(device, fsPath(join(hide, name)));
  }
  // The upper ones last, or nothing could be made in one that is read-only.
  for (const [folder, mode] of [...modes].reverse()) chmodSync(fsPath(join(hide, folder)), mode);
}

function modeOf(root: string, folder: string): number {
  return statSync(fsPath(join(root, folder))).mode & 0o7777;
}

function hasSecretName(way: string): boolean {
  const at = way.lastIndexOf("/");
  return secretEntries(way.slice(0, Math.max(at, 0)), [way.slice(at + 1)]).length > 0;
}

/** The file that an overlay takes for a name that is gone. Node cannot make it. */
function whiteoutIn(folder: string, name = "whiteout"): string {
  const device = resolve(folder, name);
  spawnSync("mknod", [device, "c", "0", "0"], { env: { PATH: SYSTEM_PATH }, stdio: "ignore" });
  return device;
}

function isWhiteout(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isCharacterDevice() === true && found.rdev === 0;
}
