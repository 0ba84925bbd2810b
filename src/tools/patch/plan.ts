/** Computes the result of a patch in memory. */
import { isAbsolute, join } from "node:path";
import { ChangeError } from "../edit/change-error.js";
import { printable } from "../files/printable.js";
import { unread } from "../files/read-files.js";
import { isInside, MAX_TEXT_BYTES, type ResolvedPath, type Workspace, WorkspaceError } from "../workspace.js";
import { applyHunks } from "./apply.js";
import type { FileChange } from "./changes.js";

export interface PlannedFile {
  readonly path: ResolvedPath;
  /** Absent when there was no such file. */
  readonly before?: FileBefore;
  /** Absent if the patch deletes the file. */
  readonly after?: string;
  /** For a file that a move creates. */
  readonly movedFrom?: FileBefore;
}

export interface FileBefore {
  readonly path: ResolvedPath;
  readonly bytes: Buffer;
  readonly mode: number;
  readonly version: string;
  /** Absent in a file that is not text: it can be deleted, not changed. */
  readonly text?: string;
}

/** The files that change, in the order of the patch. Later parts of a patch see the results of earlier ones. */
export async function planPatch(workspace: Workspace, changes: readonly FileChange[]): Promise<readonly PlannedFile[]> {
  const plan = new Plan(workspace);
  for (const change of changes) await plan.add(change);
  return plan.result();
}

class Plan {
  readonly #workspace: Workspace;
  readonly #files = new Map<string, PlannedFile>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  async add(change: FileChange): Promise<void> {
    const file = await this.#file(change.path);
    switch (change.kind) {
      case "add":
        if (file.before !== undefined && file.before.text === undefined) throw await this.#unusable(file);
        this.#refuseUnread(file);
        return this.#set(file, change.text);
      case "delete":
        if (file.before === undefined && file.after === undefined) throw await this.#unusable(file);
        return this.#set(file, undefined);
      case "update":
        return this.#update(file, change);
    }
  }

  result(): readonly PlannedFile[] {
    const files = [...this.#files.values()].filter(
      ({ before, after }) => (before === undefined) !== (after === undefined) || before?.text !== after,
    );
    if (files.length === 0) throw new ChangeError("The patch changes nothing: the files already have this content.");
    return files;
  }

  async #update(file: PlannedFile, change: Extract<FileChange, { kind: "update" }>): Promise<void> {
    if (file.after === undefined) throw await this.#unusable(file);
    const text = patched(file, change);
    if (change.moveTo === undefined) return this.#set(file, text);
    const target = await this.#file(change.moveTo);
    if (target.path.absolute === file.path.absolute) return this.#set(file, text);
    this.#refuseUnread(target);
    this.#set(file, undefined);
    const movedFrom = file.before ?? file.movedFrom;
    this.#files.set(target.path.absolute, {
      ...target,
      after: text,
      ...(movedFrom === undefined ? {} : { movedFrom }),
    });
  }

  /** To replace a whole file, the session must have seen it, as with the tool write. */
  #refuseUnread({ path, before, after }: PlannedFile): void {
    const isReplaced = before !== undefined && after !== undefined && before.bytes.length > 0;
    if (isReplaced && !this.#workspace.hasSeen(path)) throw unread(path.display);
  }

  #set(file: PlannedFile, after: string | undefined): void {
    const { after: _, ...rest } = file;
    this.#files.set(file.path.absolute, after === undefined ? rest : { ...rest, after });
  }

  /** The file as the patch has left it so far. */
  async #file(name: string): Promise<PlannedFile> {
    const path = await this.#workspace.resolve(name, "write");
    refuseLink(this.#workspace, { name, path });
    const known = this.#files.get(path.absolute);
    if (known !== undefined) return known;
    if (!path.exists) return { path };
    const before = await this.#read(path);
    return { path, before, ...(before.text === undefined ? {} : { after: before.text }) };
  }

  async #read(path: ResolvedPath): Promise<FileBefore> {
    const { bytes, mode, size } = await this.#workspace.read(path.absolute, { maxBytes: MAX_TEXT_BYTES });
    if (size > MAX_TEXT_BYTES) throw new ChangeError(`${shown(path)} is too large for a patch. Use a shell command.`);
    try {
      const { text, version } = await this.#workspace.readText(path.absolute, { purpose: "look" });
      return { path, bytes, mode, version, text };
    } catch (error) {
      if (error instanceof WorkspaceError && error.code === "binary") return { path, bytes, mode, version: "" };
      throw error;
    }
  }

  /** Tells why there is no text to change. */
  async #unusable({ path, before }: PlannedFile): Promise<Error> {
    if (before === undefined) await this.#workspace.resolve(path.absolute, "read");
    const why = before?.text === undefined ? "is not a text file" : "was deleted by an earlier part of the patch";
    return new ChangeError(`${shown(path)} ${why}.`);
  }
}

function patched(file: PlannedFile, change: Extract<FileChange, { kind: "update" }>): string {
  try {
    return change.hunks.length === 0 ? (file.after ?? "") : applyHunks(file.after ?? "", change.hunks);
  } catch (error) {
    if (!(error instanceof ChangeError)) throw error;
    throw new ChangeError(`${shown(file.path)}: ${error.message}`, error.quoted);
  }
}

/** If a path leads elsewhere, it contains a link. Only its spelling may differ. */
function refuseLink(workspace: Workspace, { name, path }: { name: string; path: ResolvedPath }): void {
  const lexical = isAbsolute(name) ? join(name) : join(workspace.root, name);
  if (!isInside(lexical, workspace.roots) || sameName(lexical, path.absolute)) return;
  throw new ChangeError(
    `${printable(name)} is a symbolic link or lies behind one. Name the file itself: ${shown(path)}.`,
  );
}

function sameName(a: string, b: string): boolean {
  const plain = (path: string) => path.normalize("NFKC").toLowerCase().replace(/\/+$/, "");
  return plain(a) === plain(b);
}

function shown(path: ResolvedPath): string {
  return printable(path.display);
}
