/**
 * The retrieval stores of the user, for commands and sessions: opens them with the user's key, and their embedding models.
 *
 * 1. A store is used with the model that its vectors are of. Another one is refused, with the command that embeds the store again.
 * 2. Text goes to the embedding model that the user named when the store was made, and nowhere else.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { Embedder } from "../../base/embedder.js";
import { nearest } from "../../base/nearest.js";
import { UsageError } from "../../base/usage-error.js";
import type { Failure } from "../../protocol/errors.js";
import type { Roots } from "../../system/xdg-paths.js";
import type { SourceDocument } from "./ingest.js";
import { RetrievalStore } from "./retrieval-store.js";
import type { RetrievalSettings } from "./settings.js";
import { choiceFor, isSameModel, type StoreEntry, StoreRegistry } from "./store-registry.js";
import type { SourceKind } from "./store-types.js";

export interface SourcePlace {
  readonly kind: SourceKind;
  /** Absolute. */
  readonly place: string;
}

/** Finds and reads the documents of files, folders, patterns and addresses. */
export interface Documents {
  readPlace(word: string, base: string): Promise<SourcePlace>;
  find(place: SourcePlace, signal: AbortSignal): Promise<FoundDocuments>;
}

export interface FoundDocuments {
  readonly total: number;
  readonly documents: AsyncIterable<SourceDocument>;
}

/** Opens an embedding model by its name. */
export type OpenEmbedder = (spec: string) => Promise<{ readonly embedder: Embedder } | { readonly failure: Failure }>;

export interface RetrievalOptions {
  readonly settings: RetrievalSettings;
  readonly roots: Pick<Roots, "data">;
  /** A key for one purpose, made from the user's key. */
  readonly key: (purpose: string) => Promise<Uint8Array>;
  readonly redact: (text: string) => string;
  readonly openEmbedder: OpenEmbedder;
  readonly clock: Clock;
  /** The folder that is worked in. */
  readonly root: string;
  readonly warn: (message: string) => void;
  /** For a command that ends soon: on a full or read-only disk it can still read. */
  readonly isForReading?: boolean;
}

export class Retrieval {
  readonly registry: StoreRegistry;
  readonly #options: RetrievalOptions;
  readonly #opened = new Map<string, Promise<RetrievalStore>>();
  #isMigrated = false;

  constructor(options: RetrievalOptions) {
    this.#options = options;
    this.registry = new StoreRegistry(retrievalFolder(options.roots), options.clock);
  }

  get redact(): (text: string) => string {
    return this.#options.redact;
  }

  get root(): string {
    return this.#options.root;
  }

  /** The number of passages, the least score, and how much vectors count beside words. */
  get limits(): { readonly top?: number; readonly minimum?: number; readonly meaning?: number } {
    const { top, minimum, vectors } = this.#options.settings.rag.value ?? {};
    return {
      ...(typeof top === "number" && top >= 1 && { top: Math.min(50, Math.floor(top)) }),
      ...(typeof minimum === "number" && { minimum }),
      ...(typeof vectors === "number" && { meaning: Math.min(1, Math.max(0, vectors)) }),
    };
  }

  async list(): Promise<readonly StoreEntry[]> {
    await this.#migrate();
    return (await this.registry.read()).stores;
  }

  /** The store that is on in this folder. */
  async active(): Promise<StoreEntry | undefined> {
    await this.#migrate();
    const registry = await this.registry.read();
    const choice = choiceFor(registry, this.#options.root);
    return choice?.enabled ? registry.stores.find(({ name }) => name === choice.active) : undefined;
  }

  /** The named one; without a name the one of this folder, or the only one. */
  async find(name: string | undefined): Promise<StoreEntry> {
    const stores = await this.list();
    if (name === undefined) {
      const choice = choiceFor(await this.registry.read(), this.#options.root);
      const chosen =
        stores.find((entry) => entry.name === choice?.active) ?? (stores.length === 1 ? stores[0] : undefined);
      if (chosen !== undefined) return chosen;
      const advice =
        stores.length === 0 ? "Make one with 'rag new NAME'." : "Name one with --in, or choose one with 'rag on NAME'.";
      throw new UsageError(`No store is chosen. ${advice}`);
    }
    const found = stores.find((entry) => entry.name === name);
    if (found !== undefined) return found;
    const near = nearest(
      name,
      stores.map((entry) => entry.name),
    );
    throw new UsageError(
      `There is no store ${name}. ${near === undefined ? "'rag list' shows them." : `Did you mean ${near}?`}`,
    );
  }

  open(entry: StoreEntry): Promise<RetrievalStore> {
    let opened = this.#opened.get(entry.id);
    if (opened === undefined) {
      opened = this.#reallyOpen(entry);
      this.#opened.set(entry.id, opened);
      opened.catch(() => this.#opened.delete(entry.id));
    }
    return opened;
  }

  async #reallyOpen(entry: StoreEntry): Promise<RetrievalStore> {
    const { clock, isForReading } = this.#options;
    const key = await this.#options.key(`oxbow retrieval store 1 ${entry.id}`);
    const path = this.registry.fileOf(entry);
    const store = await RetrievalStore.open({ path, key, wall: clock.wall, isForReading });
    await this.#agree(entry, store);
    return store;
  }

  /** A process may have died between the change of a store's model and the change of the registry. The store is right, unless it is new. */
  async #agree(entry: StoreEntry, store: RetrievalStore): Promise<void> {
    if (store.binding?.model === entry.embedding_model) return;
    if (store.version === 0 && entry.embedding_model !== undefined) store.bind(entry.embedding_model);
    else await this.registry.update(entry.name, { embedding_model: store.binding?.model });
  }

  /** The model of the store's vectors; `answering` may have another one. Undefined for a store without vectors. */
  async embedder(entry: StoreEntry, answering?: string): Promise<Embedder | undefined> {
    const { binding } = await this.open(entry);
    if (binding === undefined) return undefined;
    const spec = overrideFor(entry, answering) ?? binding.model;
    if (spec === "off") return undefined;
    const embedder = await this.namedEmbedder(spec);
    if (!isSameModel(embedder.model, binding.model)) throw otherModel(entry, binding.model, embedder.model);
    return embedder;
  }

  async namedEmbedder(spec: string): Promise<Embedder> {
    const opened = await this.#options.openEmbedder(spec);
    if ("failure" in opened) throw new UsageError(opened.failure.message);
    return opened.embedder;
  }

  /** The content first: if the process dies in between, an empty store is left, which can be dropped. */
  async drop(entry: StoreEntry): Promise<void> {
    await this.closeStore(entry);
    const file = this.registry.fileOf(entry);
    for (const end of ["", "-wal", "-shm"]) await rm(`${file}${end}`, { force: true });
    await this.registry.remove(entry.name);
  }

  async closeStore({ id }: StoreEntry): Promise<void> {
    const opened = this.#opened.get(id);
    this.#opened.delete(id);
    (await opened?.catch(() => undefined))?.close();
  }

  async close(): Promise<void> {
    for (const [id, opened] of this.#opened) {
      this.#opened.delete(id);
      (await opened.catch(() => undefined))?.close();
    }
  }

  /** Stores of the profile's `[rag]` table are taken over once. */
  async #migrate(): Promise<void> {
    const table = this.#options.settings.rag;
    if (this.#isMigrated || table.value === undefined) return;
    this.#isMigrated = true;
    const { takeOver } = await import("./old-configuration.js");
    try {
      await takeOver(table.value, { retrieval: this, base: this.#options.root, origin: table.origin });
    } catch (error) {
      // The other stores still work.
      this.#options.warn(`Oxbow did not take over the stores of ${table.origin}: ${(error as Error).message}`);
    }
  }
}

export function retrievalFolder({ data }: Pick<Roots, "data">): string {
  return join(data, "retrieval");
}

/** By the whole name of the answering model, `PROVIDER:MODEL`, or by the model's alone. */
function overrideFor({ model_map = {} }: StoreEntry, answering: string | undefined): string | undefined {
  if (answering === undefined) return undefined;
  const own = (name: string) => (Object.hasOwn(model_map, name) ? model_map[name] : undefined);
  return own(answering) ?? own(answering.slice(answering.indexOf(":") + 1));
}

/** The vectors of a store are of another model. */
export class ModelMismatch extends UsageError {}

function otherModel({ name }: StoreEntry, bound: string, asked: string): ModelMismatch {
  return new ModelMismatch(
    `The vectors of ${name} are of ${bound}; those of ${asked} do not compare with them. ` +
      `To use that model, embed the store again: oxbow rag reembed ${name} --embed ${asked}`,
  );
}
