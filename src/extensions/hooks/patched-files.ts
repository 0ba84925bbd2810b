/** The files that a patch names, and the lines it removes and adds: enough for hooks; the tool itself parses patches strictly. */

export interface PatchedFile {
  readonly kind: "add" | "update" | "delete";
  readonly path: string;
  readonly removed: string;
  readonly added: string;
}

const HEADER = /^\*\*\* (Add|Update|Delete) File: *(.+)$/;
const MOVED = /^\*\*\* Move to: *(.+)$/;

export function patchedFiles(patch: string): readonly PatchedFile[] {
  const files: { kind: PatchedFile["kind"]; path: string; removed: string[]; added: string[] }[] = [];
  for (const line of patch.split("\n")) {
    const [, kind, path] = HEADER.exec(line.trimEnd()) ?? [];
    const moved = MOVED.exec(line.trimEnd())?.[1];
    if (kind !== undefined && path !== undefined)
      files.push({ kind: kind.toLowerCase() as PatchedFile["kind"], path: path.trim(), removed: [], added: [] });
    else if (moved !== undefined) files.push({ kind: "update", path: moved.trim(), removed: [], added: [] });
    else if (line.startsWith("+")) files.at(-1)?.added.push(line.slice(1));
    else if (line.startsWith("-")) files.at(-1)?.removed.push(line.slice(1));
  }
  return files.map(({ kind, path, removed, added }) => ({
    ...{ kind, path },
    removed: removed.join("\n"),
    added: added.join("\n"),
  }));
}
