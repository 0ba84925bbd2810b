/**
 * Where memories are kept: below the user's data folder, so that no project can place one there and no command of the model reaches them.
 * Those of a project belong to the top of its repository, or to the folder itself where there is none.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { ExtensionFile } from "../../base/extension-files.js";
import type { MemoryListing } from "../../context/memory/changes.js";
import { readEntry } from "../../context/memory/entry.js";
import { MemoryFolder } from "../../context/memory/folder.js";
import { INDEX_NAME } from "../../context/memory/index-file.js";
import { Memories } from "../../context/memory/memories.js";
import type { Roots } from "../../system/xdg-paths.js";
import { memoryRoot } from "./memory-root.js";

export interface MemoryPlace {
  readonly roots: Pick<Roots, "data">;
  /** The folder of the session, free of links. */
  readonly root: string;
  readonly clock: Clock;
}

export async function openMemories(
  { roots, root, clock }: MemoryPlace,
  shared?: ConstructorParameters<typeof Memories>[0]["shared"],
): Promise<Memories> {
  const { redact } = await import("../../security/redact/redact.js");
  const base = memoryRoot(roots);
  return new Memories({
    user: new MemoryFolder({ path: join(base, "user"), scope: "user", clock, redact }),
    project: new MemoryFolder({ path: projectFolder(base, root), scope: "project", clock, redact }),
    ...(shared && { shared }),
  });
}

export function projectFolder(base: string, root: string): string {
  const top = projectTop(root);
  const mark = createHash("sha256").update(top).digest("hex").slice(0, 16);
  const name =
    basename(top)
      .replaceAll(/[^\w.-]/g, "_")
      .slice(0, 40) || "root";
  return join(base, "projects", `${name}-${mark}`);
}

/** The nearest folder with a `.git` in it. */
function projectTop(root: string): string {
  for (let folder = root; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return root;
  }
}

/** Approved files of the repository. */
export async function sharedMemories(files: readonly ExtensionFile[]): Promise<MemoryListing> {
  const read = await Promise.all(
    files
      .filter(({ name }) => basename(name) !== INDEX_NAME)
      .map(async (file) => {
        const stem = file.name.replace(/\.md$/, "");
        try {
          return readEntry({ text: await file.read(), stem, path: file.path, scope: "shared", changedAt: 0 });
        } catch (error) {
          return { path: file.path, message: error instanceof Error ? error.message : String(error) };
        }
      }),
  );
  return {
    entries: read.flatMap((each) => ("message" in each ? [] : [each])),
    problems: read.flatMap((each) => ("message" in each ? [each] : [])),
  };
}
