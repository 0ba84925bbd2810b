/**
 * The chunks of an older database: one plain SQLite table `chunks (id, content, embedding, source)`, where an embedding is its length as an int32
 * and then float64 values, all little-endian.
 */
import { createHash } from "node:crypto";
import { Database } from "../../system/sqlite/database.js";
import type { Chunk } from "./chunk.js";
import type { RetrievalStore } from "./retrieval-store.js";

const PORTION = 200;

/** The number of chunks. */
export async function copyChunks(
  path: string,
  store: RetrievalStore,
  redact: (text: string) => string,
): Promise<number> {
  const old = await Database.openPlain({ path, noun: "old retrieval database" });
  try {
    const source = store.beginSource("import", path);
    const names = old.select({ source: "text" }, "FROM (SELECT DISTINCT source FROM chunks ORDER BY source)");
    const seen = new Set<string>();
    let copied = 0;
    for (const { source: name } of names) {
      const document = name === "" ? path : name;
      seen.add(document);
      copied += copyDocument(old, store, { name, document, source, redact });
      await new Promise((resolve) => setImmediate(resolve));
    }
    store.finishSource(source, seen);
    return copied;
  } finally {
    old.close();
  }
}

function copyDocument(
  old: Database,
  store: RetrievalStore,
  {
    name,
    document,
    source,
    redact,
  }: {
    readonly name: string;
    readonly document: string;
    readonly source: number;
    readonly redact: (text: string) => string;
  },
): number {
  const rows = old.select(
    { text: ["text", "content"], embedding: "bytes" },
    "FROM chunks WHERE source = ? ORDER BY id",
    [name],
  );
  const chunks = rows.map(({ text }): Chunk => ({ title: "", text: redact(text), firstLine: 1, lastLine: 1 }));
  const sha256 = createHash("sha256")
    .update(rows.map(({ text }) => text).join("\n"))
    .digest("hex");
  store.putDocuments([{ source, path: document, stamp: sha256, sha256, chunks }]);
  if (store.binding === undefined) return rows.length;
  // Equal chunks have equal vectors.
  const byText = new Map(rows.map(({ text, embedding }) => [redact(text), embedding]));
  for (let last = 0; ; ) {
    const pending = store.pending(last, PORTION);
    const vectors = pending.flatMap(({ id, text }) => {
      const vector = readVector(byText.get(text));
      return vector === undefined ? [] : [{ chunk: id, vector }];
    });
    store.putVectors(vectors);
    last = pending.at(-1)?.id ?? last;
    if (pending.length < PORTION) return rows.length;
  }
}

export function readVector(bytes: Buffer | undefined): Float64Array | undefined {
  if (bytes === undefined || bytes.length < 12) return undefined;
  const length = bytes.readInt32LE(0);
  if (length <= 0 || bytes.length !== 4 + length * 8) return undefined;
  return Float64Array.from({ length }, (_, i) => bytes.readDoubleLE(4 + i * 8));
}
