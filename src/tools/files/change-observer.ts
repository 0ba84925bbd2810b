/** An observer of the file tools. It learns of each change before it happens, in time to back up the old content. */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { fsPath, linkTarget, namesIn } from "../../system/path-bytes.js";
import { kindOf } from "./file-stat.js";
import { HeldDirectory, openRegularFile } from "./held-directory.js";
import { MAX_TEXT_BYTES, readUpTo } from "./whole-file.js";
import { WorkspaceError, withWorkspaceErrors } from "./workspace-error.js";

export interface ChangeObserver {
  /** Called before each change. When it fails, nothing is changed. */
  before(change: ObservedChange): Promise<void>;
}

/** Undefined means that nothing exists there. */
export interface ObservedChange {
  /** Without symbolic links, except the entry itself. */
  readonly absolute: string;
  readonly before: ObservedEntry | undefined;
  readonly after: ObservedEntry | undefined;
}

export type ObservedEntry =
  /** Without content if it is too large for memory; without mode if the system decides. */
  | {
      readonly kind: "file";
      readonly content: Buffer | undefined;
      readonly mode: number | undefined;
      readonly size?: number;
    }
  | { readonly kind: "folder"; readonly mode: number | undefined }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "other" };

/** An entry of the workspace: `at` is the path by which it is opened, `shown` is for errors. */
export interface ObservedPlace {
  readonly absolute: string;
  readonly at: string;
  readonly shown: string;
}

/** Notifies the observer, if there is one. */
export class Announcer {
  readonly #observer: ChangeObserver | undefined;

  constructor(observer: ChangeObserver | undefined) {
    this.#observer = observer;
  }

  /** If the observer cannot record the old content, the model gets this message and the change does not happen. */
  async change(shown: string, change: ObservedChange): Promise<void> {
    try {
      await this.#observer?.before(change);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `${shown} was not changed, because its content could not be backed up for undo: ${reason}`;
      throw new WorkspaceError("io", message, { cause: error });
    }
  }

  /** Of a file, a link or an empty folder. */
  async removal({ absolute, at, shown }: ObservedPlace): Promise<void> {
    if (this.#observer === undefined) return;
    const before = await withWorkspaceErrors(shown, () => observedEntry(at, absolute));
    await this.change(shown, { absolute, before, after: undefined });
  }

  /** Of anything, with all that is in it. */
  async move({ absolute, at, shown }: ObservedPlace, target: string): Promise<void> {
    if (this.#observer === undefined) return;
    const entry = await withWorkspaceErrors(shown, () => observedEntry(at, absolute));
    await this.change(shown, { absolute, before: entry, after: undefined });
    await this.change(shown, { absolute: target, before: undefined, after: entry });
    if (entry.kind !== "folder") return;
    const held = await withWorkspaceErrors(shown, () => HeldDirectory.open(absolute, shown));
    try {
      for (const name of namesIn(held.path)) {
        await this.move({ absolute: join(absolute, name), at: held.at(name), shown }, join(target, name));
      }
    } finally {
      await held.close();
    }
  }
}

async function observedEntry(at: string, absolute: string): Promise<ObservedEntry> {
  const found = await lstat(fsPath(at));
  const kind = kindOf(found);
  const mode = found.mode & 0o7777;
  if (kind === "other") return { kind };
  if (kind === "folder") return { kind, mode };
  if (kind === "link") return { kind, target: linkTarget(at) };
  if (found.size > MAX_TEXT_BYTES) return { kind, mode, content: undefined, size: found.size };
  const handle = await openRegularFile(at, absolute, absolute);
  try {
    return { kind, mode, content: await readUpTo(handle, MAX_TEXT_BYTES) };
  } finally {
    await handle.close();
  }
}
