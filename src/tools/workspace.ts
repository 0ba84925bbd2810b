/**
 * The only door to the files of a workspace.
 *
 * 1. The root is resolved once. Every access resolves its path again, as the kernel would, and is refused
 *    unless the result lies in the root or an extra root; then that very place is opened without following links.
 * 2. Nothing but regular files is read or replaced; opening never blocks.
 * 3. A file is changed by replacing it whole: never half written, never through another hard link.
 * 4. What the session read is remembered by content. A file that is different now is not overwritten, and an existing file
 *    is not overwritten unread.
 * 5. An observer is called before every change; without its consent nothing changes.
 * 6. Directly before a change the opened folder is checked against the guard list: a guarded path changes only if the user
 *    said yes to that very path (`allowing`).
 */
import type { BigIntStats } from "node:fs";
import { type FileHandle, lstat, mkdir, opendir, readdir, readlink, rename, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Admission } from "./files/admission.js";
import { Announcer, type ChangeObserver } from "./files/change-observer.js";
import { type Entry, type FileStat, fileStat, kindOf } from "./files/file-stat.js";
import { HeldDirectory, openRegularFile } from "./files/held-directory.js";
import type { FoundEntry, PathGuard } from "./files/path-guard.js";
import { type Access, PathResolver, type ResolvedPath } from "./files/path-resolver.js";
import { printable } from "./files/printable.js";
import { changed, ReadFiles, stampOf, unread, versionOf } from "./files/read-files.js";
import { type DecodedText, decodeText, encodeText, PLAIN_LAYOUT, unencodable } from "./files/text-file.js";
import { Turns } from "./files/turns.js";
import {
  type ExistingFile,
  isThere,
  MAX_TEXT_BYTES,
  readExisting,
  readTextBytes,
  readUpTo,
  replaceFile,
} from "./files/whole-file.js";
import { errnoOf, told, WorkspaceError } from "./files/workspace-error.js";
import { openRoot } from "./files/workspace-root.js";

export type { ChangeObserver, ObservedChange, ObservedEntry } from "./files/change-observer.js";
export { isInside } from "./files/containment.js";
export type { Entry, EntryKind, FileStat } from "./files/file-stat.js";
export type { FoundEntry, PathGuard } from "./files/path-guard.js";
export type { Access, ResolvedPath } from "./files/path-resolver.js";
export { MAX_TEXT_BYTES } from "./files/whole-file.js";
export { WorkspaceError, type WorkspaceErrorCode } from "./files/workspace-error.js";

export interface FileBytes extends FileStat {
  /** Shorter than `size` when a limit cut it. */
  readonly bytes: Buffer;
}

/** A text file with `\n` line endings and no byte order mark, and what is needed to write it back unchanged. */
export interface TextFile extends FileStat, DecodedText {
  /** Names this exact content; `writeText` takes it as `basis`. */
  readonly version: string;
}

export interface ReadTextOptions {
  /** `look` does not count as the session having seen the file. Default `remember`. */
  readonly purpose?: "remember" | "look";
}

export interface WriteOptions {
  /**
   * The version that the new content was made from. The write is refused when the file is no longer that; an earlier read
   * in the session is then not needed. A file that the session did read must still be what it was, basis or not.
   */
  readonly basis?: string;
  /** Permission bits for a new file; an existing one keeps its own. */
  readonly mode?: number;
}

export interface WriteResult {
  readonly path: ResolvedPath;
  readonly created: boolean;
  /** False when the file held exactly this already. */
  readonly changed: boolean;
  /** What the file held before, decoded; empty for a new file. */
  readonly before: string;
  /** Its current content, in the same form. */
  readonly after: string;
  readonly version: string;
}

export interface WorkspaceOptions {
  readonly extraRoots?: readonly string[];
  readonly observer?: ChangeObserver | undefined;
  /** Without one no place is guarded. */
  readonly guard?: PathGuard | undefined;
}

/** What all views of one workspace share. */
interface Shared {
  readonly paths: PathResolver;
  readonly announce: Announcer;
  readonly readFiles: ReadFiles;
  readonly writing: Turns;
  readonly exclusive: Turns;
}

export class Workspace {
  readonly #shared: Shared;
  readonly #admission: Admission;

  private constructor(shared: Shared, admission: Admission) {
    this.#shared = shared;
    this.#admission = admission;
  }

  /** Fails with a sentence for the user when a folder cannot be read. */
  static async open(root: string, options: WorkspaceOptions = {}): Promise<Workspace> {
    const extra = await Promise.all((options.extraRoots ?? []).map(openRoot));
    const shared = {
      paths: new PathResolver([await openRoot(root), ...extra], options.guard),
      announce: new Announcer(options.observer),
      readFiles: new ReadFiles(),
      writing: new Turns(),
      exclusive: new Turns(),
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

  /** Where a path leads now. Throws unless that is inside. For `read` it must exist; for `write` it may not exist yet. */
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
    const handle = await told(shown(place), () => openRegularFile(place.absolute, shown(place)));
    try {
      const found = await handle.stat({ bigint: true });
      await this.#admission.toRead({ absolute: place.absolute, shown: shown(place), found });
      return await action(handle, fileStat(place, found));
    } finally {
      await handle.close();
    }
  }

  /** Whether a file that was found by searching may be shown. Absolute and free of links. */
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

  /** For a file that was streamed: `version` names its bytes when all of them went by (see `versionOf`). */
  async rememberSeen(path: ResolvedPath, handle: FileHandle, version?: string): Promise<void> {
    const stamp = stampOf(await handle.stat({ bigint: true }));
    this.#shared.readFiles.record(path.absolute, { stamp, ...(version === undefined ? {} : { version }) });
  }

  hasSeen(path: ResolvedPath): boolean {
    return this.#shared.readFiles.has(path.absolute);
  }

  /** Replaces or creates a text file; keeps mode, encoding, byte order mark and line endings. Makes parent folders. */
  writeText(path: string, text: string, options: WriteOptions = {}): Promise<WriteResult> {
    return this.#write(path, options, (existing, place) => {
      if (existing === undefined) return Buffer.from(text, "utf8");
      const layout = existing.bytes.length === 0 ? PLAIN_LAYOUT : decodeText(existing.bytes);
      refuseUnencodable(text, layout.encoding, place);
      return encodeText(text, layout, existing.bytes);
    });
  }

  /** Replaces or creates a file with exactly these bytes, under the same conditions. */
  writeBytes(path: string, bytes: Uint8Array, options: WriteOptions = {}): Promise<WriteResult> {
    return this.#write(path, options, () => Buffer.from(bytes));
  }

  /** Removes a file, a symbolic link (not what it leads to) or an empty folder. */
  async remove(path: string): Promise<ResolvedPath> {
    const place = await this.#existingEntry(path);
    await this.#inFolderOf(place, async ({ at, admit }) => {
      const found = await this.#refuseChanged(place, at);
      await admit(found);
      await this.#shared.announce.removal({ absolute: place.absolute, at, shown: shown(place) });
      await admit(found);
      await told(shown(place), () => (found.isDirectory() ? rmdir(at) : unlink(at)));
    });
    this.#shared.readFiles.forget(place.absolute);
    return place;
  }

  /** Renames a file, link or folder. The new name must be free; its parent folders are made. */
  async move(from: string, to: string): Promise<{ from: ResolvedPath; to: ResolvedPath }> {
    const source = await this.#existingEntry(from);
    const target = await this.resolve(to, "write");
    await this.#inFolderOf(source, async (old) => {
      const found = await this.#refuseChanged(source, old.at);
      await this.#inFolderOf(target, async (fresh) => {
        if (await isThere(fresh.at)) throw new WorkspaceError("exists", `${shown(target)} exists already.`);
        const admit = async () => {
          await old.admit(found);
          await fresh.admit();
          if (found.isDirectory()) await this.#admitBelow(source, target);
        };
        await admit();
        const from = { absolute: source.absolute, at: old.at, shown: shown(source) };
        await this.#shared.announce.move(from, target.absolute);
        await admit();
        await told(shown(source), () => rename(old.at, fresh.at));
      });
    });
    this.#shared.readFiles.rename(source.absolute, target.absolute);
    return { from: source, to: { ...target, exists: true } };
  }

  /** Entries of a folder as the system gives them, without holding them all. */
  async *entries(path: string): AsyncGenerator<Entry> {
    const place = await this.resolve(path, "read");
    const held = await told(shown(place), () => HeldDirectory.open(place.absolute, shown(place)));
    try {
      await this.#admission.toRead({ absolute: place.absolute, shown: shown(place) });
      const directory = await told(shown(place), () => opendir(held.path, { bufferSize: 256 }));
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

  /** Follows links, as every access does: what it reports lies inside. */
  async stat(path: string): Promise<FileStat> {
    const place = await this.resolve(path, "read");
    return fileStat(place, await told(shown(place), () => lstat(place.absolute, { bigint: true })));
  }

  /** Where the link at `folder/name` says it leads, as text. */
  async linkTarget(folder: string, name: string): Promise<string> {
    const place = await this.resolve(folder, "read");
    return told(shown(place), () => readlink(join(place.absolute, name)));
  }

  /** Runs `action` alone among those that name one of the same files: for read, compute and write as one. */
  async exclusive<T>(paths: readonly string[], action: () => Promise<T>): Promise<T> {
    const places = await Promise.all(paths.map(async (path) => (await this.resolve(path, "write")).absolute));
    return this.#shared.exclusive.runAll(places, action);
  }

  async #write(
    path: string,
    options: WriteOptions,
    content: (existing: ExistingFile | undefined, place: ResolvedPath) => Buffer,
  ): Promise<WriteResult> {
    const place = await this.resolve(path, "write");
    return this.#shared.writing.run(place.absolute, () =>
      this.#inFolderOf(place, async ({ at, admit }) => {
        await admit();
        const existing = await readExisting(at, place);
        this.#refuseUnlessKnown(place, existing, options.basis);
        const bytes = content(existing, place);
        const version = await versionOf(bytes);
        const changes = existing?.version !== version;
        if (changes) {
          const after = { kind: "file", content: bytes, mode: existing?.mode ?? options.mode } as const;
          const before = existing && ({ kind: "file", content: existing.bytes, mode: existing.mode } as const);
          await this.#shared.announce.change(shown(place), { absolute: place.absolute, before, after });
          await admit();
          const replacement = { absolute: place.absolute, existing, mode: options.mode };
          await told(shown(place), () => replaceFile(at, bytes, replacement));
        }
        // After a change to an unread file, its other lines are still unknown.
        if (existing === undefined || options.basis === undefined || this.hasSeen(place)) {
          // Another process may have removed it already.
          const written = await told(shown(place), () => lstat(at, { bigint: true }));
          this.#shared.readFiles.record(place.absolute, { version, stamp: stampOf(written) });
        }
        return {
          path: { ...place, exists: true },
          created: existing === undefined,
          changed: changes,
          before: existing === undefined ? "" : decodeText(existing.bytes).text,
          after: decodeText(bytes).text,
          version,
        };
      }),
    );
  }

  #refuseUnlessKnown(place: ResolvedPath, existing: ExistingFile | undefined, basis: string | undefined): void {
    if (existing === undefined) {
      if (basis !== undefined) throw changed(place.display);
      return;
    }
    this.#shared.readFiles.refuseChanged(place.absolute, existing, place.display);
    if (basis !== undefined && basis !== existing.version) throw changed(place.display);
    // Replacing needs no write permission on the file itself, but someone took that away on purpose.
    if ((existing.mode & 0o222) === 0) throw readOnly(place);
    // Nothing can be lost from an empty file.
    if (basis === undefined && !this.hasSeen(place) && existing.bytes.length > 0) throw unread(place.display);
  }

  async #refuseChanged(place: ResolvedPath, at: string): Promise<BigIntStats> {
    const found = await told(shown(place), () => lstat(at, { bigint: true }));
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

  /** Makes the folders on the way where they are missing, and keeps the last one open while `action` works in it. */
  async #inFolderOf<T>(place: ResolvedPath, action: (entry: HeldEntry) => Promise<T>): Promise<T> {
    const held = await told(shown(place), () => this.#holdFolder(dirname(place.absolute)));
    const { absolute } = place;
    const admit = async (found?: FoundEntry) => {
      await this.#admission.toChange({ absolute, shown: shown(place), found });
      await held.confirm();
    };
    try {
      return await action({ at: held.at(basename(absolute)), admit });
    } finally {
      await held.close();
    }
  }

  /** What a folder that is moved would take along. */
  async #admitBelow(source: ResolvedPath, target: ResolvedPath): Promise<void> {
    const names = await told(shown(source), () => readdir(source.absolute, { recursive: true }));
    for (const name of names) {
      for (const { absolute } of [source, target]) {
        const below = join(absolute, name);
        await this.#admission.toChange({ absolute: below, shown: printable(this.display(below)) });
      }
    }
  }

  async #holdFolder(folder: string): Promise<HeldDirectory> {
    try {
      return await HeldDirectory.open(folder, printable(this.display(folder)));
    } catch (error) {
      if (errnoOf(error) !== "ENOENT" || this.roots.includes(folder)) throw error;
    }
    const parent = await this.#holdFolder(dirname(folder));
    try {
      const after = { kind: "folder", mode: undefined } as const;
      const opened = { absolute: folder, shown: printable(this.display(folder)) };
      await this.#admission.toMakeFolder(opened);
      await this.#shared.announce.change(opened.shown, { absolute: folder, before: undefined, after });
      await this.#admission.toMakeFolder(opened);
      await parent.confirm();
      await mkdir(parent.at(basename(folder))).catch(ignoreExisting);
      return await parent.descend(basename(folder), folder, printable(this.display(folder)));
    } finally {
      await parent.close();
    }
  }
}

/** An entry of a folder that is kept open. */
interface HeldEntry {
  /** The path by which it is opened. */
  readonly at: string;
  /** Refuses a change that needs the user's yes, or whose folder has moved. */
  admit(found?: FoundEntry): Promise<void>;
}

function shown(place: ResolvedPath): string {
  return printable(place.display);
}

function readOnly(place: ResolvedPath): WorkspaceError {
  const message = `${shown(place)} is read-only. Nothing was written. If it really must change, make it writable first.`;
  return new WorkspaceError("read_only", message);
}

function refuseUnencodable(text: string, encoding: DecodedText["encoding"], place: ResolvedPath): void {
  const character = unencodable(text, encoding);
  if (character === undefined) return;
  throw new WorkspaceError(
    "invalid",
    `${shown(place)} is not UTF-8, and ${JSON.stringify(character)} has no place in its single-byte encoding. Convert the file first.`,
  );
}

function ignoreExisting(error: unknown): void {
  if (errnoOf(error) !== "EEXIST") throw error;
}
