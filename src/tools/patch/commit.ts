/** Puts a planned patch on the disk, or leaves the disk as it was. */
import { dirname } from "node:path";
import { decodeText, encodeText } from "../files/text-file.js";
import type { Workspace } from "../workspace.js";
import type { PlannedFile } from "./plan.js";

/** The patch could neither be applied nor taken back. */
export class HalfAppliedError extends Error {
  override readonly name = "HalfAppliedError";
}

/** Undoes one thing that was done. */
type Undo = () => Promise<unknown>;

export async function commit(workspace: Workspace, files: readonly PlannedFile[]): Promise<void> {
  const undo: Undo[] = [];
  try {
    // Deletions last: until then everything can be put back by writing.
    for (const file of files) if (file.after !== undefined) await write(workspace, file, undo);
    for (const file of files) if (file.after === undefined) await remove(workspace, file, undo);
  } catch (error) {
    const failures = await takeBack(undo);
    if (failures.length === 0) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new HalfAppliedError(
      `${reason} Taking back what was already written failed, too: ${failures.join(" ")} Check the files of the patch.`,
      { cause: error },
    );
  }
}

async function write(workspace: Workspace, file: PlannedFile, undo: Undo[]): Promise<void> {
  const { path, before, after = "", movedFrom } = file;
  if (before === undefined) await noteNewFolders(workspace, path.absolute, undo);
  const basis = before === undefined ? {} : { basis: before.version };
  const written =
    movedFrom === undefined
      ? await workspace.writeText(path.absolute, after, basis)
      : await workspace.writeBytes(path.absolute, encodedLike(movedFrom.bytes, after), {
          ...basis,
          mode: movedFrom.mode,
        });
  undo.push(() =>
    before === undefined
      ? workspace.remove(path.absolute)
      : workspace.writeBytes(path.absolute, before.bytes, { basis: written.version }),
  );
}

/** A file keeps its encoding, byte order mark and line endings when it is moved. */
function encodedLike(bytes: Buffer, text: string): Buffer {
  return encodeText(text, decodeText(bytes), bytes);
}

async function remove(workspace: Workspace, { path, before }: PlannedFile, undo: Undo[]): Promise<void> {
  await workspace.remove(path.absolute);
  if (before === undefined) return;
  undo.push(() => workspace.writeBytes(path.absolute, before.bytes, { mode: before.mode }));
}

/** Folders that the write will make are to be removed again, the innermost first. */
async function noteNewFolders(workspace: Workspace, path: string, undo: Undo[]): Promise<void> {
  const folders: string[] = [];
  for (let folder = dirname(path); !workspace.roots.includes(folder); folder = dirname(folder)) {
    if ((await workspace.resolve(folder, "write")).exists) break;
    folders.push(folder);
  }
  // Someone else may have put something there or never let it be made: then it stays as it is.
  for (const folder of folders.reverse()) undo.push(() => workspace.remove(folder).catch(() => undefined));
}

async function takeBack(undo: Undo[]): Promise<readonly string[]> {
  const failures: string[] = [];
  for (let step = undo.pop(); step !== undefined; step = undo.pop()) {
    try {
      await step();
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  return failures;
}
