/** An observer of the file tools. It learns of each change before it happens, in time to back up the old content. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { type ObservedChange, type ObservedEntry, observed } from "../../system/observed-change.js";
import { entryOf } from "../../system/overlay/change-set.js";
import { fsPath, namesIn } from "../../system/path-bytes.js";
import { HeldDirectory } from "./held-directory.js";
import { MAX_TEXT_BYTES } from "./whole-file.js";
import { WorkspaceError, withWorkspaceErrors } from "./workspace-error.js";

export interface ChangeObserver {
  /** Called before each change. When it fails, nothing is changed. */
  before(change: ObservedChange): Promise<void>;
}

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
    const before = await withWorkspaceErrors(shown, async () => observedEntry(at));
    await this.change(shown, { absolute, before, after: undefined });
  }

  /** Of anything, with all that is in it. */
  async move({ absolute, at, shown }: ObservedPlace, target: string): Promise<void> {
    if (this.#observer === undefined) return;
    const entry = await withWorkspaceErrors(shown, async () => observedEntry(at));
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

function observedEntry(at: string): ObservedEntry {
  const entry = entryOf(lstatSync(fsPath(at)), at);
  const found: ObservedEntry = observed(at, entry, MAX_TEXT_BYTES) ?? { kind: "other" };
  if (entry.kind === "file" && entry.size <= MAX_TEXT_BYTES && found.content === undefined)
    throw Object.assign(new Error("it cannot be read"), { code: "EACCES" });
  return found;
}
