/** All memories of a session: those of the user, of the project, and those that the repository shares. */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { ExtensionFile } from "../../base/extension-files.js";
import type { Roots } from "../../system/xdg-paths.js";
import { type MemoryEntry, type MemoryProblem, type MemoryScope, readEntry } from "./entry.js";
import { MemoryError, MemoryFolder, type MemoryListing } from "./folder.js";
import { INDEX_NAME } from "./index-file.js";
import { memoryRoot } from "./settings.js";

export interface MemoriesOptions {
  readonly user: MemoryFolder;
  readonly project: MemoryFolder;
  /** Approved files of the repository. */
  shared?(): Promise<MemoryListing>;
}

export class Memories {
  readonly #options: MemoriesOptions;

  constructor(options: MemoriesOptions) {
    this.#options = options;
  }

  get folders(): readonly MemoryFolder[] {
    return [this.#options.user, this.#options.project];
  }

  folder(scope: Exclude<MemoryScope, "shared">): MemoryFolder {
    return this.#options[scope];
  }

  async list(): Promise<MemoryListing> {
    const { user, project, shared } = this.#options;
    const listings = [await user.list(), await project.list(), ...(shared === undefined ? [] : [await shared()])];
    const problems: readonly MemoryProblem[] = listings.flatMap((listing) => listing.problems);
    return { entries: listings.flatMap(({ entries }) => entries), problems };
  }

  /** By `NAME` or `SCOPE/NAME`. */
  async find(wanted: string): Promise<MemoryEntry> {
    const { entries, problems } = await this.list();
    const [, scope, name = ""] = /^(?:(user|project|shared)\/)?(.*?)(?:\.md)?$/s.exec(wanted.trim()) ?? [];
    const inScope = entries.filter((entry) => scope === undefined || entry.scope === scope);
    const exact = inScope.filter((entry) => entry.name === name);
    const found = exact.length > 0 ? exact : inScope.filter((entry) => entry.name.toLowerCase() === name.toLowerCase());
    const [entry, ...more] = found;
    if (entry === undefined) {
      const problem = problems.find(({ path }) => path.endsWith(`/${name}.md`));
      if (problem !== undefined) throw new MemoryError(`${problem.path}: ${problem.message}. Correct the file first.`);
      throw new MemoryError(`There is no memory '${wanted}'.${nearby(name, entries)}`);
    }
    if (more.length > 0) {
      throw new MemoryError(
        `Several memories have that name: ${found.map((each) => `${each.scope}/${each.name}`).join(", ")}.`,
      );
    }
    return entry;
  }

  /** Finds where a file is, also one that cannot be read as a memory. */
  async locate(wanted: string): Promise<{ readonly folder: MemoryFolder; readonly name: string }> {
    const [, scope, name = ""] = /^(?:(user|project)\/)?(.*?)(?:\.md)?$/s.exec(wanted.trim()) ?? [];
    const holding: MemoryFolder[] = [];
    for (const folder of this.folders) {
      if ((scope === undefined || folder.scope === scope) && (await folder.has(name))) holding.push(folder);
    }
    const [folder, ...more] = holding;
    if (more.length > 0) throw new MemoryError(`Several memories have that name: user/${name}, project/${name}.`);
    if (folder !== undefined) return { folder, name };
    // It may be one of the repository, or another spelling.
    const entry = await this.find(wanted);
    return { folder: this.folderOf(entry), name: entry.name };
  }

  /** The folder that holds it; one of the repository is read only. */
  folderOf({ scope, name, path }: MemoryEntry): MemoryFolder {
    if (scope !== "shared") return this.#options[scope];
    throw new MemoryError(`${name} belongs to the repository. Change ${path} there.`);
  }
}

function nearby(name: string, entries: readonly MemoryEntry[]): string {
  const some = entries.filter((entry) => entry.name.includes(name) || name.includes(entry.name)).slice(0, 5);
  return some.length === 0 || name === ""
    ? ""
    : ` There is: ${some.map((entry) => `${entry.scope}/${entry.name}`).join(", ")}.`;
}

export interface MemoryPlace {
  readonly roots: Pick<Roots, "data">;
  /** The folder of the session, free of links. */
  readonly root: string;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
}

/** They are below the user's data folder, so that no project can place one there and no command of the model reaches them. */
export function openMemories(
  { roots, root, clock, redact }: MemoryPlace,
  shared?: ConstructorParameters<typeof Memories>[0]["shared"],
): Memories {
  const base = memoryRoot(roots);
  return new Memories({
    user: new MemoryFolder({ path: join(base, "user"), scope: "user", clock, redact }),
    project: new MemoryFolder({ path: projectFolder(base, root), scope: "project", clock, redact }),
    ...(shared && { shared }),
  });
}

/** Those of a project belong to the top of its repository, or to the folder itself where there is none. */
function projectFolder(base: string, root: string): string {
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
