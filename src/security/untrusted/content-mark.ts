import { createHash } from "node:crypto";
import { createMark } from "./untrusted.js";

/** Derives the mark of a block from its content: the same texts give the same bytes, and no text can contain a mark that depends on itself. */
export function contentMark(content: unknown): string {
  const hash = createHash("sha256").update(JSON.stringify(content));
  return createMark((bytes) => hash.digest().subarray(0, bytes));
}
