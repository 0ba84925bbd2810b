/**
 * One store of documents for retrieval: an encrypted database.
 *
 * 1. A document and its chunks are stored in one transaction. A process that dies leaves whole documents, which the next one does not read again.
 * 2. The vectors of a store are of one embedding model: `bind` fixes it, `rebind` drops all vectors.
 * 3. A chunk that a changed document still contains keeps its id and so its vector.
 */
import { UsageError } from "../../base/usage-error.js";
import { Database } from "../../system/sqlite/database.js";
import { migrate } from "../../system/sqlite/migrate.js";
import type { Chunk } from "./chunk.js";
import { normalized, toBits, toBytes } from "./quantize.js";
import { MIGRATIONS } from "./schema.js";
import type {
  Binding,
  KnownDocument,
  NewDocument,
  Source,
  SourceKind,
  StoreCounts,
  StoredChunk,
} from "./store-types.js";
import { prefixesFor } from "./task-prefixes.js";
import { VectorIndex } from "./vector-index.js";
import { WordIndex } from "./word-index.js";

export interface StoreOptions {
  readonly path: string;
  /** 32 bytes, for this database alone. */
  readonly key: Uint8Array;
  readonly wall: () => number;
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
  readonly #wall: () => number;

  private constructor(database: Database, wall: () => number) {
    this.#database = database;
    this.#wall = wall;
    this.words = new WordIndex(database);
    this.vectors = new VectorIndex(database);
  }

  static async open({ path, key, wall }: StoreOptions): Promise<RetrievalStore> {
    const database = await Database.open({ path, key, noun: "retrieval store" });
    try {
      migrate(database, { wall, migrations: MIGRATIONS });
      // Decrypting a page again takes longer than finding it in memory.
      database.script("PRAGMA cache_size = -8000");
      return new RetrievalStore(database, wall);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }

  get binding(): Binding | undefined {
    const model = this.#meta("model");
    if (model === undefined) return undefined;
    const dimensions = this.#meta("dimensions");
    return {
      model,
      dimensions: dimensions === undefined ? undefined : Number(dimensions),
      document: this.#meta("document prefix") ?? "",
      question: this.#meta("question prefix") ?? "",
    };
  }

  /** Grows with each change of the vectors. */
  get version(): number {
    return Number(this.#meta("version") ?? 0);
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
      for (const name of ["model", "dimensions", "document prefix", "question prefix"])
        this.#database.run("DELETE FROM meta WHERE name = ?", [name]);
      if (model !== undefined) {
        const { document, question } = prefixesFor(model);
        this.#setMeta("model", model);
        this.#setMeta("document prefix", document);
        this.#setMeta("question prefix", question);
      }
      this.#changed();
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
        documents: ["integer", "(SELECT count(*) FROM documents WHERE source = sources.id)"],
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

  /** Removes the documents of the source that were not seen in it. */
  finishSource(source: number, seen: ReadonlySet<string>): number {
    return this.#database.transaction("FULL", () => {
      const known = this.#database.select({ id: "integer", path: "text" }, "FROM documents WHERE source = ?", [source]);
      const gone = known.filter(({ path }) => !seen.has(path));
      for (const { id } of gone) this.#database.run("DELETE FROM documents WHERE id = ?", [id]);
      const now = new Date(this.#wall()).toISOString();
      this.#database.run("UPDATE sources SET finished_at = ? WHERE id = ?", [now, source]);
      if (gone.length > 0) this.#changed();
      return gone.length;
    });
  }

  /** With all its documents. */
  dropSource(source: number): void {
    this.#database.transaction("FULL", () => {
      this.#database.run("DELETE FROM sources WHERE id = ?", [source]);
      this.#changed();
    });
    this.#database.shrink();
  }

  document(path: string): KnownDocument | undefined {
    return this.#database.first(
      { id: "integer", source: "integer", stamp: "text", sha256: "text" },
      "FROM documents WHERE path = ?",
      [path],
    );
  }

  /** All or none of them. */
  putDocuments(documents: readonly NewDocument[]): void {
    this.#database.transaction("NORMAL", () => {
      for (const document of documents) this.#putDocument(document);
      this.#changed();
    });
  }

  /** The content is the same. */
  touchDocument(id: number, stamp: string): void {
    this.#database.run("UPDATE documents SET stamp = ? WHERE id = ?", [stamp, id]);
  }

  #putDocument({ source, path, stamp, sha256, chunks }: NewDocument): void {
    const now = new Date(this.#wall()).toISOString();
    this.#database.run(
      `INSERT INTO documents (source, path, stamp, sha256, stored_at) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (path) DO UPDATE SET stamp = excluded.stamp, sha256 = excluded.sha256, stored_at = excluded.stored_at`,
      [source, path, stamp, sha256, now],
    );
    const id = this.document(path)?.id ?? 0;
    const kept = this.#chunksOf(id);
    for (const chunk of chunks) {
      const same = kept.get(sameness(chunk))?.shift();
      if (same === undefined) this.#putChunk(id, chunk);
      else
        this.#database.run("UPDATE chunks SET first_line = ?, last_line = ? WHERE id = ?", [
          chunk.firstLine,
          chunk.lastLine,
          same,
        ]);
    }
    for (const chunk of [...kept.values()].flat()) this.#database.run("DELETE FROM chunks WHERE id = ?", [chunk]);
  }

  /** The ids of its chunks by their content. */
  #chunksOf(document: number): Map<string, number[]> {
    const rows = this.#database.select(
      { id: "integer", title: "text", text: ["text", "content"] },
      "FROM chunks WHERE document = ? ORDER BY id",
      [document],
    );
    const ids = new Map<string, number[]>();
    for (const row of rows) ids.set(sameness(row), [...(ids.get(sameness(row)) ?? []), row.id]);
    return ids;
  }

  #putChunk(document: number, chunk: Chunk): void {
    const { title, text, firstLine, lastLine } = chunk;
    this.#database.run("INSERT INTO chunks (document, title, content, first_line, last_line) VALUES (?, ?, ?, ?, ?)", [
      document,
      title,
      text,
      firstLine,
      lastLine,
    ]);
    const row = this.#database.first({ id: ["integer", "last_insert_rowid()"] }, "");
    this.words.add(row?.id ?? 0, chunk);
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
      this.#setMeta("dimensions", String(dimensions));
      this.#changed();
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

  #meta(name: string): string | undefined {
    return this.#database.first({ value: "text" }, "FROM meta WHERE name = ?", [name])?.value;
  }

  #setMeta(name: string, value: string): void {
    this.#database.run("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", [name, value]);
  }

  #changed(): void {
    this.#setMeta("version", String(this.version + 1));
  }
}

function sameness({ title, text }: Pick<Chunk, "title" | "text">): string {
  return `${title}\n${text}`;
}

export function otherDimensions(expected: number, got: number): UsageError {
  return new UsageError(
    `The embedding model gave a vector with ${got} dimensions; those of the store have ${expected}, so they do not compare. ` +
      "The model behind the name has changed: embed the store again with 'oxbow rag reembed'.",
  );
}
