/**
 * All access to the files of a workspace.
 *
 * 1. The root is resolved once. Every access resolves its path again, as the kernel would, and is refused
 *    unless the result lies in the root or an extra root. Then exactly that place is opened, without following links.
 * 2. It reads and replaces only regular files; opening never blocks.
 * 3. A write replaces the whole file: never half written, never through another hard link.
 * 4. It remembers the content that the session read. It does not overwrite a file that has changed since, or an existing file that
 *    the session has not read.
 * 5. An observer is called before every change; without its consent nothing changes.
 * 6. Directly before a change the opened folder is checked against the guard list: a guarded path changes only if the user
 *    allowed exactly that path (`allowing`).
 */
import type { BigIntStats } from "node:fs";
import { type FileHandle, lstat, opendir, readlink, rename, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { Admission } from "./files/admission.js";
import { Announcer } from "./files/change-observer.js";
import { type Entry, type FileStat, fileStat, kindOf } from "./files/file-stat.js";
import { FileWriter, refuseUnencodable } from "./files/file-writer.js";
import { HeldDirectory, openRegularFile } from "./files/held-directory.js";
import { HeldEntries } from "./files/held-entries.js";
import { type Access, PathResolver, type ResolvedPath } from "./files/path-resolver.js";
import { printable, shown } from "./files/printable.js";
import { ReadFiles, stampOf, versionOf } from "./files/read-files.js";
import { decodeText, encodeText, PLAIN_LAYOUT } from "./files/text-file.js";
import { Turns } from "./files/turns.js";
import { isThere, MAX_TEXT_BYTES, readExisting, readTextBytes, readUpTo } from "./files/whole-file.js";
import { WorkspaceError, withWorkspaceErrors } from "./files/workspace-error.js";
import { openRoot } from "./files/workspace-root.js";
import type {
  FileBytes,
  ReadTextOptions,
  TextFile,
  WorkspaceOptions,
  WriteOptions,
  WriteResult,
} from "./files/workspace-types.js";

export type { ChangeObserver } from "./files/change-observer.js";
export { isInside } from "./files/containment.js";
export type { Entry, EntryKind, FileStat } from "./files/file-stat.js";
export type { FoundEntry, PathGuard } from "./files/path-guard.js";
export type { Access, ResolvedPath } from "./files/path-resolver.js";
export { MAX_TEXT_BYTES } from "./files/whole-file.js";
export { WorkspaceError, type WorkspaceErrorCode } from "./files/workspace-error.js";
export type * from "./files/workspace-types.js";

/** Shared by all views of one workspace. */
interface Shared {
  readonly paths: PathResolver;
  readonly announce: Announcer;
  readonly readFiles: ReadFiles;
  readonly writing: Turns;
  readonly exclusive: Turns;
  readonly umask: number | undefined;
}

export class Workspace {
  readonly #shared: Shared;
  readonly #admission: Admission;
  readonly #entries: HeldEntries;
  readonly #writer: FileWriter;

  private constructor(shared: Shared, admission: Admission) {
    this.#shared = shared;
    this.#admission = admission;
    this.#entries = new HeldEntries({ ...shared, admission });
    this.#writer = new FileWriter({ ...shared, entries: this.#entries });
  }

  /** Throws with a message for the user if a folder cannot be read. */
  static async open(root: string, options: WorkspaceOptions = {}): Promise<Workspace> {
    const { temporary } = options;
    const named = [...(options.extraRoots ?? []), ...(temporary === undefined ? [] : [temporary])];
    const extra = await Promise.all(named.map(openRoot));
    const shared = {
      paths: new PathResolver([await openRoot(root), ...extra], options.guard, temporary && extra.at(-1)),
      announce: new Announcer(options.observer),
      readFiles: new ReadFiles(),
      writing: new Turns(),
      exclusive: new Turns(),
      umask: options.umask,
    };
    return new Workspace(shared, new Admission(options.guard));
  }

  /** The same workspace for one call, in which these guarded paths may change. Absolute and free of links. */
  allowing(granted: readonly string[] = []): Workspace {
    return granted.length === 0 ? this : new Workspace(this.#shared, this.#admission.withGranted(granted));
  }

  get root(): string {
    return this.#shared.paths.root;
  }

  get roots(): readonly string[] {
    return this.#shared.paths.roots;
  }

  /** Lets the tools use a further folder, free of links. */
  addRoot(folder: string): void {
    this.#shared.paths.add(folder);
  }

  /** Finds where a path leads now. Throws unless that is inside. For `read` it must exist; for `write` it may not exist yet. */
  resolve(path: string, access: Access): Promise<ResolvedPath> {
    return this.#shared.paths.resolve(path, access);
  }

  /** Relative to the root with forward slashes; the root itself is `.`; other paths stay absolute. */
  display(absolute: string): string {
    return this.#shared.paths.display(absolute);
  }

  /** Opens a regular file while `action` runs: for streaming. */
  async withFile<T>(path: string, action: (handle: FileHandle, file: FileStat) => Promise<T>): Promise<T> {
    const place = await this.resolve(path, "read");
    const handle = await withWorkspaceErrors(shown(place), () => openRegularFile(place.absolute, shown(place)));
    try {
      const found = await handle.stat({ bigint: true });
      await this.#admission.toRead({ absolute: place.absolute, shown: shown(place), found });
      return await action(handle, fileStat(place, found));
    } finally {
      await handle.close();
    }
  }

  /** Tells whether a file that was found by searching may be shown. Absolute and free of links. */
  async mayRead(absolute: string): Promise<boolean> {
    const shown = printable(this.display(absolute));
    return this.#admission.toRead({ absolute, shown }).then(
      () => true,
      () => false,
    );
  }

  /** The bytes of a regular file, at most `maxBytes` of them. Does not count as having seen it. */
  read(path: string, options: { maxBytes?: number } = {}): Promise<FileBytes> {
    return this.withFile(path, async (handle, file) => ({
      ...file,
      bytes: await readUpTo(handle, options.maxBytes ?? Number.MAX_SAFE_INTEGER),
    }));
  }

  readText(path: string, options: ReadTextOptions = {}): Promise<TextFile> {
    return this.withFile(path, async (handle, file) => {
      const bytes = await readTextBytes(handle, file);
      const version = await versionOf(bytes);
      if (options.purpose !== "look") await this.rememberSeen(file.path, handle, version);
      return { ...file, ...decodeText(bytes), version };
    });
  }

  /** For a streamed file: `version` identifies its bytes if all of them were read (see `versionOf`). */
  async rememberSeen(path: ResolvedPath, handle: FileHandle, version?: string): Promise<void> {
    const stamp = stampOf(await handle.stat({ bigint: true }));
    this.#shared.readFiles.record(path.absolute, { stamp, ...(version === undefined ? {} : { version }) });
  }

  /** The session no longer knows the text of other files than these. */
  async keepSeen(paths: readonly string[]): Promise<void> {
    const places = await Promise.all(paths.map((path) => this.resolve(path, "read").catch(() => undefined)));
    this.#shared.readFiles.keepOnly(new Set(places.flatMap((place) => place?.absolute ?? [])));
  }

  hasSeen(path: ResolvedPath): boolean {
    return this.#shared.readFiles.has(path.absolute);
  }

  /** Replaces or creates a text file; keeps mode, encoding, byte order mark and line endings. Makes parent folders. */
  writeText(path: string, text: string, options: WriteOptions = {}): Promise<WriteResult> {
    return this.#writer.write(path, options, (existing, place) => {
      if (existing === undefined) return Buffer.from(text, "utf8");
      const layout = existing.bytes.length === 0 ? PLAIN_LAYOUT : decodeText(existing.bytes);
      refuseUnencodable(text, layout.encoding, place);
      return encodeText(text, layout, existing.bytes);
    });
  }

  /** Replaces or creates a file with exactly these bytes, under the same conditions. */
  writeBytes(path: string, bytes: Uint8Array, options: WriteOptions = {}): Promise<WriteResult> {
    return this.#writer.write(path, options, () => Buffer.from(bytes));
  }

  /** Removes a file, a symbolic link (not what it leads to) or an empty folder. */
  async remove(path: string): Promise<ResolvedPath> {
    const place = await this.#existingEntry(path);
    await this.#entries.inFolderOf(place, async ({ at, admit }) => {
      const found = await this.#refuseChanged(place, at);
      await admit(found);
      await this.#shared.announce.removal({ absolute: place.absolute, at, shown: shown(place) });
      await admit(found);
      await withWorkspaceErrors(shown(place), () => (found.isDirectory() ? rmdir(at) : unlink(at)));
    });
    this.#shared.readFiles.forget(place.absolute);
    return place;
  }

  /** Renames a file, link or folder. The new name must be free; its parent folders are made. */
  async move(from: string, to: string): Promise<{ from: ResolvedPath; to: ResolvedPath }> {
    const source = await this.#existingEntry(from);
    const target = await this.resolve(to, "write");
    await this.#entries.inFolderOf(source, async (old) => {
      const found = await this.#refuseChanged(source, old.at);
      await this.#entries.inFolderOf(target, async (fresh) => {
        if (await isThere(fresh.at)) throw new WorkspaceError("exists", `${shown(target)} exists already.`);
        const admit = async () => {
          await old.admit(found);
          await fresh.admit();
          if (found.isDirectory()) await this.#entries.admitBelow(source, target);
        };
        await admit();
        const from = { absolute: source.absolute, at: old.at, shown: shown(source) };
        await this.#shared.announce.move(from, target.absolute);
        await admit();
        await withWorkspaceErrors(shown(source), () => rename(old.at, fresh.at));
      });
    });
    this.#shared.readFiles.rename(source.absolute, target.absolute);
    return { from: source, to: { ...target, exists: true } };
  }

  /** Entries of a folder in the system's order, without keeping them all in memory. */
  async *entries(path: string): AsyncGenerator<Entry> {
    const place = await this.resolve(path, "read");
    const held = await withWorkspaceErrors(shown(place), () => HeldDirectory.open(place.absolute, shown(place)));
    try {
      await this.#admission.toRead({ absolute: place.absolute, shown: shown(place) });
      const directory = await withWorkspaceErrors(shown(place), () => opendir(held.path, { bufferSize: 256 }));
      for await (const entry of directory) yield { name: entry.name, kind: kindOf(entry) };
    } finally {
      await held.close();
    }
  }

  /** Entries of a folder by name. */
  async list(path: string): Promise<readonly Entry[]> {
    const out: Entry[] = [];
    for await (const entry of this.entries(path)) out.push(entry);
    return out.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Follows links, as every access does: the result lies inside the workspace. */
  async stat(path: string): Promise<FileStat> {
    const place = await this.resolve(path, "read");
    return fileStat(place, await withWorkspaceErrors(shown(place), () => lstat(place.absolute, { bigint: true })));
  }

  /** The target of the link at `folder/name`, as text. */
  async linkTarget(folder: string, name: string): Promise<string> {
    const place = await this.resolve(folder, "read");
    return withWorkspaceErrors(shown(place), () => readlink(join(place.absolute, name)));
  }

  /** Runs `action` while no other action on one of these files runs, so that read, compute and write are atomic. */
  async exclusive<T>(paths: readonly string[], action: () => Promise<T>): Promise<T> {
    const places = await Promise.all(paths.map(async (path) => (await this.resolve(path, "write")).absolute));
    return this.#shared.exclusive.runAll(places, action);
  }

  async #refuseChanged(place: ResolvedPath, at: string): Promise<BigIntStats> {
    const found = await withWorkspaceErrors(shown(place), () => lstat(at, { bigint: true }));
    if (found.isFile() && this.hasSeen(place)) {
      const isSmall = found.size <= MAX_TEXT_BYTES;
      const now = (isSmall ? await readExisting(at, place) : undefined) ?? { stamp: stampOf(found) };
      this.#shared.readFiles.refuseChanged(place.absolute, now, place.display);
    }
    return found;
  }

  async #existingEntry(path: string): Promise<ResolvedPath> {
    const place = await this.#shared.paths.resolveEntry(path);
    if (this.roots.includes(place.absolute)) {
      throw new WorkspaceError("invalid", `${printable(path)} is the workspace itself.`);
    }
    return place.exists ? place : this.resolve(path, "read");
  }
}
