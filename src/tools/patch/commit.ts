/** Writes a planned patch to disk, or leaves the disk unchanged. */
import { dirname } from "node:path";
import { decodeText, encodeText } from "../files/text-file.js";
import type { Workspace } from "../workspace.js";
import type { PlannedFile } from "./plan.js";

/** The patch could neither be applied nor reverted. */
export class HalfAppliedError extends Error {
  override readonly name = "HalfAppliedError";
}

export async function commit(workspace: Workspace, files: readonly PlannedFile[]): Promise<void> {
  const transaction = new Transaction(workspace);
  try {
    // Deletions come last: until then every change can be reverted by writing.
    for (const file of files) if (file.after !== undefined) await transaction.write(file, file.after);
    for (const file of files) if (file.after === undefined) await transaction.remove(file);
  } catch (error) {
    const failures = await transaction.takeBack();
    if (failures.length === 0) throw error;
    throw new HalfAppliedError(
      `${messageOf(error)} Reverting the files that were already written failed, too: ${failures.join(" ")} Check the files of the patch.`,
      { cause: error },
    );
  }
}

class Transaction {
  readonly #workspace: Workspace;
  /** Each entry undoes one change; the last one runs first. */
  readonly #undo: (() => Promise<unknown>)[] = [];

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  async write({ path, before, movedFrom }: PlannedFile, text: string): Promise<void> {
    const workspace = this.#workspace;
    const { absolute } = path;
    if (before === undefined) await this.#recordNewFolders(absolute);
    const basis = before === undefined ? {} : { basis: before.version };
    const { version } =
      movedFrom === undefined
        ? await workspace.writeText(absolute, text, basis)
        : await workspace.writeBytes(absolute, encodedLike(movedFrom.bytes, text), { ...basis, mode: movedFrom.mode });
    if (before === undefined) this.#undo.push(() => workspace.remove(absolute));
    else this.#undo.push(() => workspace.writeBytes(absolute, before.bytes, { basis: version }));
  }

  async remove({ path, before }: PlannedFile): Promise<void> {
    await this.#workspace.remove(path.absolute);
    if (before === undefined) return;
    this.#undo.push(() => this.#workspace.writeBytes(path.absolute, before.bytes, { mode: before.mode }));
  }

  /** Tells what could not be undone. */
  async takeBack(): Promise<readonly string[]> {
    const failures: string[] = [];
    for (let step = this.#undo.pop(); step !== undefined; step = this.#undo.pop()) {
      await step().catch((error: unknown) => failures.push(messageOf(error)));
    }
    return failures;
  }

  /** Remembers the folders that the write creates, so that they can be removed, the innermost first. */
  async #recordNewFolders(path: string): Promise<void> {
    const folders: string[] = [];
    for (let folder = dirname(path); !this.#workspace.roots.includes(folder); folder = dirname(folder)) {
      if ((await this.#workspace.resolve(folder, "write")).exists) break;
      folders.push(folder);
    }
    // Another process may have created it, or it was never created: then it stays.
    for (const folder of folders.reverse()) {
      this.#undo.push(() => this.#workspace.remove(folder).catch(() => undefined));
    }
  }
}

/** A file keeps its encoding, byte order mark and line endings when it is moved. */
function encodedLike(bytes: Buffer, text: string): Buffer {
  return encodeText(text, decodeText(bytes), bytes);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
