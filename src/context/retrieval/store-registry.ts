/**
 * Decides which stores there are, and which one is on in which folder: a small JSON file beside them.
 *
 * 1. It is the only thing that a session without stores looks for.
 * 2. A change is made under a lock and replaces the whole file.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { UsageError } from "../../base/usage-error.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { withLock } from "../../system/file-lock.js";

export interface StoreEntry {
  readonly name: string;
  /** A random word: the name of its file, and a part of its key. */
  readonly id: string;
  /** `PROVIDER:MODEL`; absent for a store that is searched by words alone. */
  readonly embedding_model?: string;
  /** Other embedding models while certain models answer, by the name of the answering model. */
  readonly model_map?: Readonly<Record<string, string>>;
  readonly created_at: string;
}

/** Describes what is on in one folder. */
export interface FolderChoice {
  readonly active: string;
  readonly enabled: boolean;
}

export interface Registry {
  readonly stores: readonly StoreEntry[];
  readonly folders: Readonly<Record<string, FolderChoice>>;
  /** Old configurations that were taken over, so that a dropped store does not come back. */
  readonly migrated?: readonly string[];
}

const NONE: Registry = { stores: [], folders: {} };
const STORE_NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u;

export class StoreRegistry {
  readonly folder: string;
  readonly #clock: Clock;

  /** `folder` is the one of all stores. */
  constructor(folder: string, clock: Clock) {
    this.folder = folder;
    this.#clock = clock;
  }

  get path(): string {
    return join(this.folder, "stores.json");
  }

  /** One look at the disk. */
  get exists(): boolean {
    return existsSync(this.path);
  }

  fileOf({ id }: Pick<StoreEntry, "id">): string {
    return join(this.folder, `${id}.db`);
  }

  async read(): Promise<Registry> {
    const text = await readFile(this.path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (text === undefined) return NONE;
    try {
      return checked(JSON.parse(text));
    } catch (error) {
      throw new UsageError(
        `${this.path} is damaged: ${(error as Error).message}. Repair it, or remove it to start anew.`,
      );
    }
  }

  async change(work: (now: Registry) => Registry): Promise<Registry> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    return withLock(`${this.path}.lock`, { clock: this.#clock }, async () => {
      const changed = work(await this.read());
      await writeFileAtomic(this.path, `${JSON.stringify(changed, null, 2)}\n`, { mode: 0o600 });
      return changed;
    });
  }

  async add(entry: Omit<StoreEntry, "id" | "created_at">): Promise<StoreEntry> {
    const made = this.newEntry(entry);
    await this.change((now) => withStore(now, made));
    return made;
  }

  /** An entry that is not in the registry yet. */
  newEntry(entry: Omit<StoreEntry, "id" | "created_at">, id = randomBytes(8).toString("hex")): StoreEntry {
    if (!STORE_NAME.test(entry.name)) {
      throw new UsageError(`'${entry.name}' is not a valid name: use letters, digits, '.', '-' and '_'.`);
    }
    return { ...entry, id, created_at: new Date(this.#clock.wall()).toISOString() };
  }

  /** A value that is undefined is removed. */
  async update(
    name: string,
    changes: { readonly embedding_model?: string | undefined; readonly model_map?: StoreEntry["model_map"] },
  ): Promise<void> {
    const replaced = (entry: StoreEntry): StoreEntry =>
      JSON.parse(JSON.stringify({ ...entry, ...changes })) as StoreEntry;
    await this.change((now) => ({
      ...now,
      stores: now.stores.map((entry) => (entry.name === name ? replaced(entry) : entry)),
    }));
  }

  async remove(name: string): Promise<void> {
    await this.change(({ stores, folders, ...rest }) => ({
      ...rest,
      stores: stores.filter((entry) => entry.name !== name),
      folders: Object.fromEntries(Object.entries(folders).filter(([, { active }]) => active !== name)),
    }));
  }

  async choose(folder: string, choice: FolderChoice): Promise<void> {
    await this.change((now) => ({ ...now, folders: { ...now.folders, [folder]: choice } }));
  }
}

export function withStore(now: Registry, entry: StoreEntry): Registry {
  if (now.stores.some(({ name }) => name === entry.name))
    throw new UsageError(`There is a store ${entry.name} already.`);
  return { ...now, stores: [...now.stores, entry] };
}

/** The choice for a folder is also one for the folders in it. */
export function choiceFor({ folders }: Registry, folder: string): FolderChoice | undefined {
  for (let at = folder; ; at = at.slice(0, at.lastIndexOf("/"))) {
    const own = Object.hasOwn(folders, at) ? folders[at] : undefined;
    if (own !== undefined || !at.includes("/")) return own;
  }
}

/** The same model, perhaps of another provider. */
export function isSameModel(one: string, other: string): boolean {
  const bare = (spec: string) => spec.slice(spec.indexOf(":") + 1).replace(/:latest$/, "");
  return bare(one) === bare(other);
}

function checked(value: unknown): Registry {
  const { stores, folders, migrated } = value as Partial<Registry>;
  if (!Array.isArray(stores)) throw new Error("it has no list of stores");
  const isEntry = (entry: StoreEntry) =>
    typeof entry?.name === "string" && typeof entry.id === "string" && /^[0-9a-f]{16}$/.test(entry.id);
  if (!stores.every(isEntry)) throw new Error("a store has no valid name or id");
  return { stores, folders: folders ?? {}, ...(migrated !== undefined && { migrated }) };
}
