/** The rows of `blobs` and `blob_uses`. A blob lives as long as an event uses it. */
import type { Database } from "../../system/sqlite/database.js";
import type { Blob, Encoded } from "./payload.js";

export class Blobs {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  find(hash: Buffer): Encoded | undefined {
    return this.#database.first({ encoding: "integer", body: "bytes" }, "FROM blobs WHERE hash = ?", [hash]);
  }

  use({ hash, encoding, body }: Blob, place: number): void {
    this.#database.run("INSERT OR IGNORE INTO blobs (hash, encoding, body) VALUES (?, ?, ?)", [hash, encoding, body]);
    this.#database.run("INSERT INTO blob_uses (blob, place) SELECT number, ? FROM blobs WHERE hash = ?", [place, hash]);
  }

  /** The events at these places use none any more. */
  drop({ first, last }: { readonly first: number; readonly last: number }): void {
    const uses = "FROM blob_uses WHERE place BETWEEN ? AND ? GROUP BY blob";
    const blobs = this.#database.select({ blob: "integer" }, uses, [first, last]);
    this.#database.run("DELETE FROM blob_uses WHERE place BETWEEN ? AND ?", [first, last]);
    for (const { blob } of blobs) {
      this.#database.run(
        "DELETE FROM blobs WHERE number = ? AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob = blobs.number)",
        [blob],
      );
    }
  }
}
