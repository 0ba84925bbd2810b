/** Describes what a store holds, as data. */
import type { Chunk } from "./chunk.js";
import type { TaskPrefixes } from "./task-prefixes.js";

/** The embedding model of a store. */
export interface Binding extends TaskPrefixes {
  readonly model: string;
  /** Unknown until the first vector is stored. */
  readonly dimensions: number | undefined;
}

export type SourceKind = "file" | "folder" | "glob" | "url" | "import";

export interface Source {
  readonly id: number;
  readonly kind: SourceKind;
  /** The path, pattern or address as it was given, absolute. */
  readonly place: string;
  /** Undefined while it was not read to its end. */
  readonly finishedAt: string | undefined;
  readonly documents: number;
}

export interface KnownDocument {
  readonly id: number;
  readonly source: number;
  readonly stamp: string;
  readonly sha256: string;
}

export interface NewDocument {
  readonly source: number;
  readonly path: string;
  /** Says without reading whether the document may have changed. */
  readonly stamp: string;
  readonly sha256: string;
  readonly chunks: readonly Chunk[];
}

export interface StoredChunk extends Chunk {
  readonly id: number;
  readonly path: string;
}

export interface StoreCounts {
  readonly documents: number;
  readonly chunks: number;
  /** Chunks with a vector. */
  readonly embedded: number;
}
