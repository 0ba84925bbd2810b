/**
 * One store of documents for retrieval: an encrypted database.
 *
 * 1. A group of documents is stored in one transaction, and so is a batch of vectors: a process that dies leaves whole ones.
 * 2. The vectors of a store are of one embedding model: `bind` fixes it, `rebind` drops all vectors.
 */
import { UsageError } from "../../base/usage-error.js";
import type { Database } from "../../system/sqlite/database.js";
import { migrate } from "../../system/sqlite/migrate.js";
import { openOrView } from "../../system/sqlite/open-or-view.js";
import { followWordRule } from "../word-rule.js";
import { DocumentTable } from "./document-table.js";
import { normalized, toBits, toBytes } from "./quantize.js";
import { MIGRATIONS } from "./schema.js";
import { StoreMeta } from "./store-meta.js";
import type {
  Binding,
  KnownDocument,
  NewDocument,
  Source,
  SourceKind,
  StoreCounts,
  StoredChunk,
} from "./store-types.js";
import { VectorIndex } from "./vector-index.js";
import { WordIndex } from "./word-index.js";

export interface StoreOptions {
  readonly path: string;
  /** 32 bytes, for this database alone. */
  readonly key: Uint8Array;
  readonly wall: () => number;
  /** If nothing can be written, reading still works. */
  readonly isForReading?: boolean | undefined;
}

const CHUNK = {
  id: ["integer", "chunks.id"],
  path: ["text", "documents.path"],
  title: ["text", "chunks.title"],
  text: ["text", "chunks.content"],
  firstLine: ["integer", "first_line"],
  lastLine: ["integer", "last_line"],
} as const;

export class RetrievalStore {
  readonly words: WordIndex;
  readonly vectors: VectorIndex;
  readonly #database: Database;
  readonly #meta: StoreMeta;
  readonly #documents: DocumentTable;
  readonly #wall: () => number;

  private constructor(database: Database, wall: () => number) {
    this.#database = database;
    this.#wall = wall;
    this.words = new WordIndex(database);
    this.vectors = new VectorIndex(database);
    this.#meta = new StoreMeta(database);
    this.#documents = new DocumentTable(database, this.words);
  }

  static async open({ path, key, wall, isForReading }: StoreOptions): Promise<RetrievalStore> {
    return openOrView(isForReading, async (open) => {
      const database = await open({ path, key, noun: "retrieval store" });
      try {
        migrate(database, { wall, migrations: MIGRATIONS });
        // Decrypting a page again takes longer than finding it in memory.
        database.script("PRAGMA cache_size = -8000");
        const store = new RetrievalStore(database, wall);
        followWordRule(database, () => store.words.reindex());
        return store;
      } catch (error) {
        database.close();
        throw error;
      }
    });
  }

  close(): void {
    this.#database.close();
  }

  get binding(): Binding | undefined {
    return this.#meta.binding;
  }

  /** Grows with each change. */
  get version(): number {
    return this.#meta.version;
  }

  /** Fixes the model of a store that has none. */
  bind(model: string): void {
    const known = this.binding;
    if (known !== undefined) {
      if (known.model !== model) throw new Error(`the store has the model ${known.model}`);
      return;
    }
    this.rebind(model);
  }

  /** Drops all vectors; undefined for a store that is searched by words alone. */
  rebind(model: string | undefined): void {
    this.#database.transaction("FULL", () => {
      for (const table of ["codes", "vectors"]) this.#database.run(`DELETE FROM ${table}`);
      this.#meta.bind(model);
      this.#meta.changed();
    });
    this.#database.shrink();
  }

  counts(): StoreCounts {
    const count = (table: string) => this.#database.first({ n: ["integer", "count(*)"] }, `FROM ${table}`)?.n ?? 0;
    return { documents: count("documents"), chunks: count("chunks"), embedded: count("codes") };
  }

  sources(): readonly Source[] {
    const rows = this.#database.select(
      {
        id: "integer",
        kind: "text",
        place: "text",
        finishedAt: ["text?", "finished_at"],
        documents: ["integer", "(SELECT count(*) FROM holdings WHERE source = sources.id)"],
      },
      "FROM sources ORDER BY id",
    );
    return rows.map((row) => ({ ...row, kind: row.kind as SourceKind }));
  }

  /** The id of the source, which is unfinished from now on. */
  beginSource(kind: SourceKind, place: string): number {
    return this.#database.transaction("NORMAL", () => {
      this.#database.run(
        "INSERT INTO sources (kind, place) VALUES (?, ?) ON CONFLICT (place) DO UPDATE SET kind = excluded.kind, finished_at = NULL",
        [kind, place],
      );
      const found = this.#database.first({ id: "integer" }, "FROM sources WHERE place = ?", [place]);
      return found?.id ?? 0;
    });
  }

  /** The documents that were not seen in the source leave it; returns how many no other source has. */
  finishSource(source: number, seen: ReadonlySet<string>): number {
    return this.#database.transaction("FULL", () => {
      const gone = this.#documents.keepSeen(source, seen);
      const now = new Date(this.#wall()).toISOString();
      this.#database.run("UPDATE sources SET finished_at = ? WHERE id = ?", [now, source]);
      if (gone > 0) this.#meta.changed();
      return gone;
    });
  }

  /** With all its documents, except those that another source has too. */
  dropSource(source: number): void {
    this.#database.transaction("FULL", () => {
      this.#documents.leave(source);
      this.#database.run("DELETE FROM sources WHERE id = ?", [source]);
      this.#meta.changed();
    });
    this.#database.shrink();
  }

  document(path: string): KnownDocument | undefined {
    return this.#documents.get(path);
  }

  /** All or none of them. */
  putDocuments(documents: readonly NewDocument[]): void {
    this.#database.transaction("NORMAL", () => {
      const now = new Date(this.#wall()).toISOString();
      for (const document of documents) this.#documents.put(document, now);
      this.#meta.changed();
    });
  }

  /** The content is the same. */
  touchDocument(id: number, stamp: string): void {
    this.#documents.touch(id, stamp);
  }

  /** Chunks without a vector, in the order of their ids. */
  pending(after: number, most: number): readonly StoredChunk[] {
    return this.#database.select(
      CHUNK,
      `FROM chunks JOIN documents ON documents.id = chunks.document
        WHERE chunks.id > ? AND NOT EXISTS (SELECT 1 FROM codes WHERE codes.chunk = chunks.id) ORDER BY chunks.id LIMIT ?`,
      [after, most],
    );
  }

  putVectors(vectors: readonly { readonly chunk: number; readonly vector: ArrayLike<number> }[]): void {
    const [first] = vectors;
    if (first === undefined) return;
    const dimensions = this.binding?.dimensions ?? first.vector.length;
    const odd = vectors.find(({ vector }) => vector.length !== dimensions);
    if (odd !== undefined) throw otherDimensions(dimensions, odd.vector.length);
    this.#database.transaction("NORMAL", () => {
      for (const { chunk, vector } of vectors) {
        const unit = normalized(vector);
        this.#database.run("INSERT OR REPLACE INTO codes (chunk, bits) VALUES (?, ?)", [chunk, toBits(unit)]);
        this.#database.run("INSERT OR REPLACE INTO vectors (chunk, bytes) VALUES (?, ?)", [chunk, toBytes(unit)]);
      }
      this.#meta.setDimensions(dimensions);
      this.#meta.changed();
    });
  }

  chunks(ids: readonly number[]): readonly StoredChunk[] {
    return this.#database.select(
      CHUNK,
      `FROM chunks JOIN documents ON documents.id = chunks.document
        WHERE chunks.id IN (SELECT value FROM json_each(?))`,
      [JSON.stringify(ids)],
    );
  }

  /** Work that reads one state of the store, whatever other processes write. */
  snapshot<T>(work: () => T): T {
    return this.#database.snapshot(work);
  }
}

export function otherDimensions(expected: number, got: number): UsageError {
  return new UsageError(
    `The embedding model gave a vector with ${got} dimensions; those of the store have ${expected}, so they do not compare. ` +
      "The model behind the name has changed: embed the store again with 'oxbow rag reembed'.",
  );
}
