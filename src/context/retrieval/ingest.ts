/**
 * Reads sources into a store.
 *
 * 1. A document whose stamp is known is not read, and one whose content is known is not cut again: a second run does only what is left.
 * 2. Documents are stored in groups and vectors in batches, each in a transaction of its own. A process that is killed loses at most one of them.
 * 3. All documents are stored before the first vector is made: words find them while the embedding model still works.
 */
import type { Embedder } from "../../base/embedder.js";
import { chunkDocument, type DocumentKind } from "./chunk.js";
import type { RetrievalStore } from "./retrieval-store.js";
import type { NewDocument } from "./store-types.js";

/** A document that may be read. */
export interface SourceDocument {
  /** Its path, for people and as its identity. */
  readonly path: string;
  /** Equal if the content is; empty when only reading tells. */
  readonly stamp: string;
  read(): Promise<ReadDocument | SkippedDocument>;
}

export interface SkippedDocument {
  readonly skipped: string;
  /** It may be readable again later, so what the store has of it stays. */
  readonly stays?: true;
}

export interface ReadDocument {
  /** Without secrets. */
  readonly text: string;
  readonly kind: DocumentKind;
  /** Of the bytes as they were read. */
  readonly sha256: string;
  /** If it is known only after reading. */
  readonly stamp?: string;
}

export interface IngestReport {
  /** Documents seen so far. */
  seen: number;
  /** New or changed ones. */
  stored: number;
  removed: number;
  readonly skipped: { readonly path: string; readonly reason: string }[];
}

export interface IngestOptions {
  readonly source: number;
  readonly documents: AsyncIterable<SourceDocument>;
  readonly signal: AbortSignal;
  readonly onProgress?: (report: IngestReport) => void;
}

const GROUP_CHUNKS = 256;
const GROUP_DOCUMENTS = 64;

/** Throws the signal's reason when it fires; what was stored stays. */
export async function ingest(store: RetrievalStore, options: IngestOptions): Promise<IngestReport> {
  const report: IngestReport = { seen: 0, stored: 0, removed: 0, skipped: [] };
  const seen = new Set<string>();
  let group: NewDocument[] = [];
  let chunks = 0;
  const flush = async () => {
    store.putDocuments(group);
    report.stored += group.length;
    group = [];
    chunks = 0;
    options.onProgress?.(report);
    await new Promise((resolve) => setImmediate(resolve));
  };
  for await (const document of options.documents) {
    options.signal.throwIfAborted();
    report.seen++;
    const read = await readIfNew(store, document, report);
    if (read !== "skipped") seen.add(document.path);
    if (typeof read === "string") continue;
    const { text, kind, sha256, stamp = document.stamp } = read;
    const made = chunkDocument(text, kind);
    group.push({ source: options.source, path: document.path, stamp, sha256, chunks: made });
    chunks += made.length;
    if (chunks >= GROUP_CHUNKS || group.length >= GROUP_DOCUMENTS) await flush();
  }
  if (group.length > 0) await flush();
  report.removed = store.finishSource(options.source, seen);
  return report;
}

async function readIfNew(
  store: RetrievalStore,
  document: SourceDocument,
  report: IngestReport,
): Promise<ReadDocument | "skipped" | "known"> {
  const known = store.document(document.path);
  if (known !== undefined && document.stamp !== "" && known.stamp === document.stamp) return "known";
  const read = await document.read();
  if ("skipped" in read) {
    report.skipped.push({ path: document.path, reason: read.skipped });
    return read.stays === true && known !== undefined ? "known" : "skipped";
  }
  if (known?.sha256 !== read.sha256) return read;
  store.touchDocument(known.id, read.stamp ?? document.stamp);
  return "known";
}

export interface EmbedOptions {
  readonly embedder: Embedder;
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

const BATCH_CHUNKS = 32;

/** Makes the vectors that are missing; returns how many. */
export async function embedPending(store: RetrievalStore, options: EmbedOptions): Promise<number> {
  const { embedder, signal, onProgress } = options;
  const { chunks, embedded } = store.counts();
  const total = chunks - embedded;
  const prefix = store.binding?.document ?? "";
  let [done, last] = [0, 0];
  for (;;) {
    signal.throwIfAborted();
    const batch = store.pending(last, BATCH_CHUNKS);
    if (batch.length === 0) return done;
    const texts = batch.map(({ title, text }) => `${prefix}${title === "" ? "" : `${title}\n`}${text}`);
    const vectors = await embedder.embed(texts, signal);
    store.putVectors(batch.map(({ id }, i) => ({ chunk: id, vector: vectors[i] as Float32Array })));
    done += batch.length;
    last = batch.at(-1)?.id ?? last;
    onProgress?.(done, total);
  }
}
