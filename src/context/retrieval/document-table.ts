/**
 * The documents of a store with their chunks.
 *
 * 1. A document and its chunks are stored in one transaction. A process that dies leaves whole documents, which the next one does not read again.
 * 2. Sources may overlap. A document stays as long as one of them has it.
 * 3. A chunk that a changed document still contains keeps its id and so its vector.
 */
import type { Database } from "../../system/sqlite/database.js";
import type { Chunk } from "./chunk.js";
import type { KnownDocument, NewDocument } from "./store-types.js";
import type { WordIndex } from "./word-index.js";

export class DocumentTable {
  readonly #database: Database;
  readonly #words: WordIndex;

  constructor(database: Database, words: WordIndex) {
    this.#database = database;
    this.#words = words;
  }

  get(path: string): KnownDocument | undefined {
    return this.#database.first(
      { id: "integer", source: "integer", stamp: "text", sha256: "text" },
      "FROM documents WHERE path = ?",
      [path],
    );
  }

  /** The content is the same. */
  touch(id: number, stamp: string): void {
    this.#database.run("UPDATE documents SET stamp = ? WHERE id = ?", [stamp, id]);
  }

  put({ source, path, stamp, sha256, chunks }: NewDocument, now: string): void {
    this.#database.run(
      `INSERT INTO documents (source, path, stamp, sha256, stored_at) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (path) DO UPDATE SET stamp = excluded.stamp, sha256 = excluded.sha256, stored_at = excluded.stored_at`,
      [source, path, stamp, sha256, now],
    );
    const id = this.get(path)?.id ?? 0;
    this.#hold(id, source);
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

  /** The source has exactly these. Those that no source has any more are removed; returns how many. */
  keepSeen(source: number, seen: ReadonlySet<string>): number {
    const known = this.#database.select(
      { id: "integer", path: "text" },
      "FROM documents JOIN holdings ON holdings.document = documents.id WHERE holdings.source = ?",
      [source],
    );
    const held = new Set(known.map(({ path }) => path));
    for (const path of seen) {
      const document = held.has(path) ? undefined : this.get(path);
      if (document !== undefined) this.#hold(document.id, source);
    }
    const gone = known.filter(({ path }) => !seen.has(path));
    for (const { id } of gone)
      this.#database.run("DELETE FROM holdings WHERE document = ? AND source = ?", [id, source]);
    return this.#release(source);
  }

  /** Before the source is deleted, which deletes what is left of it. */
  leave(source: number): void {
    this.#database.run("DELETE FROM holdings WHERE source = ?", [source]);
    this.#release(source);
  }

  #hold(document: number, source: number): void {
    this.#database.run("INSERT OR IGNORE INTO holdings (document, source) VALUES (?, ?)", [document, source]);
  }

  /** Documents that the source has left go to another one that has them; the others are removed. Returns how many. */
  #release(source: number): number {
    const isLeft = "source = ? AND NOT EXISTS (SELECT 1 FROM holdings WHERE document = documents.id AND source = ?)";
    this.#database.run(
      `UPDATE documents SET source = coalesce((SELECT min(source) FROM holdings WHERE document = documents.id), source) WHERE ${isLeft}`,
      [source, source],
    );
    const { n = 0 } =
      this.#database.first({ n: ["integer", "count(*)"] }, `FROM documents WHERE ${isLeft}`, [source, source]) ?? {};
    this.#database.run(`DELETE FROM documents WHERE ${isLeft}`, [source, source]);
    return n;
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
    this.#words.add(row?.id ?? 0, chunk);
  }
}

function sameness({ title, text }: Pick<Chunk, "title" | "text">): string {
  return `${title}\n${text}`;
}
