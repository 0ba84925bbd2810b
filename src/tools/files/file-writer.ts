/** Replaces or creates whole files, but only if the session knows the current content. */
import { lstat } from "node:fs/promises";
import type { Announcer } from "./change-observer.js";
import type { HeldEntries, HeldEntry } from "./held-entries.js";
import type { PathResolver, ResolvedPath } from "./path-resolver.js";
import { shown } from "./printable.js";
import { changed, type ReadFiles, stampOf, unread, versionOf } from "./read-files.js";
import { type DecodedText, decodeText, unencodable } from "./text-file.js";
import type { Turns } from "./turns.js";
import { type ExistingFile, readExisting, replaceFile } from "./whole-file.js";
import { WorkspaceError, withWorkspaceErrors } from "./workspace-error.js";
import type { WriteOptions, WriteResult } from "./workspace-types.js";

export interface FileWriterOptions {
  readonly paths: PathResolver;
  readonly announce: Announcer;
  readonly readFiles: ReadFiles;
  readonly writing: Turns;
  readonly entries: HeldEntries;
  /** For new files; absent: that of this process. */
  readonly umask?: number | undefined;
}

/** Makes the new content from the existing file. */
export type NewContent = (existing: ExistingFile | undefined, place: ResolvedPath) => Buffer;

export class FileWriter {
  readonly #options: FileWriterOptions;

  constructor(options: FileWriterOptions) {
    this.#options = options;
  }

  #usualMode(): number | undefined {
    const { umask } = this.#options;
    return umask === undefined ? undefined : 0o666 & ~umask;
  }

  async write(path: string, options: WriteOptions, content: NewContent): Promise<WriteResult> {
    const { paths, writing, entries, readFiles } = this.#options;
    const place = await paths.resolve(path, "write");
    return writing.run(place.absolute, () =>
      entries.inFolderOf(place, async ({ at, admit }) => {
        await admit();
        const existing = await readExisting(at, place);
        const hadChanged = existing !== undefined && readFiles.hasChanged(place.absolute, existing);
        this.#refuseUnlessKnown(place, existing, options);
        const bytes = content(existing, place);
        const version = await versionOf(bytes);
        const changes = existing?.version !== version;
        if (changes)
          await this.#replace(place, { at, admit, existing, bytes, mode: options.mode ?? this.#usualMode() });
        // After a change to an unread file, or to one that had changed, its other lines are still unknown.
        const isKnown = this.#hasSeen(place) && !hadChanged;
        if (existing === undefined || options.basis === undefined || isKnown) {
          // Another process may have removed it already.
          const written = await withWorkspaceErrors(shown(place), () => lstat(at, { bigint: true }));
          readFiles.record(place.absolute, { version, stamp: stampOf(written) });
        }
        return {
          path: { ...place, exists: true },
          created: existing === undefined,
          changed: changes,
          before: existing === undefined ? "" : decodeText(existing.bytes).text,
          after: decodeText(bytes).text,
          version,
          ...(hadChanged && { hadChanged }),
        };
      }),
    );
  }

  async #replace(place: ResolvedPath, { at, admit, existing, bytes, mode }: Replacement): Promise<void> {
    const after = { kind: "file", content: bytes, mode: existing?.mode ?? mode } as const;
    const before = existing && ({ kind: "file", content: existing.bytes, mode: existing.mode } as const);
    await this.#options.announce.change(shown(place), { absolute: place.absolute, before, after });
    await admit();
    await withWorkspaceErrors(shown(place), () => replaceFile(at, bytes, { absolute: place.absolute, existing, mode }));
  }

  #hasSeen(place: ResolvedPath): boolean {
    return this.#options.readFiles.has(place.absolute);
  }

  #refuseUnlessKnown(
    place: ResolvedPath,
    existing: ExistingFile | undefined,
    { basis, despiteChange }: WriteOptions,
  ): void {
    if (existing === undefined) {
      if (basis !== undefined) throw changed(place.display);
      return;
    }
    if (despiteChange !== true) this.#options.readFiles.refuseChanged(place.absolute, existing, place.display);
    if (basis !== undefined && basis !== existing.version) throw changed(place.display);
    // Replacing needs no write permission on the file itself, but a read-only file is read-only on purpose.
    if ((existing.mode & 0o222) === 0) throw readOnly(place);
    // An empty file has nothing to lose.
    if (basis === undefined && !this.#hasSeen(place) && existing.bytes.length > 0) throw unread(place.display);
  }
}

interface Replacement extends HeldEntry {
  readonly existing: ExistingFile | undefined;
  readonly bytes: Buffer;
  readonly mode: number | undefined;
}

function readOnly(place: ResolvedPath): WorkspaceError {
  const message = `${shown(place)} is read-only. Nothing was written. If it really must change, make it writable first.`;
  return new WorkspaceError("read_only", message);
}

export function refuseUnencodable(text: string, encoding: DecodedText["encoding"], place: ResolvedPath): void {
  const character = unencodable(text, encoding);
  if (character === undefined) return;
  throw new WorkspaceError(
    "invalid",
    `${shown(place)} is not UTF-8, and ${JSON.stringify(character)} has no place in its single-byte encoding. Convert the file first.`,
  );
}
