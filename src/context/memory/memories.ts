/** All memories of a session: those of the user, of the project, and those that the repository shares. */

import { MemoryError, type MemoryListing } from "./changes.js";
import type { MemoryEntry, MemoryProblem, MemoryScope } from "./entry.js";
import type { MemoryFolder } from "./folder.js";

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

  /** Where a file is, also one that cannot be read as a memory. */
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
