/** Oxbow's sources for the benchmarks of retrieval, and stores filled through them. */
import { createHash } from "node:crypto";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
export const KEY = new Uint8Array(32).fill(5);
export const DIMENSIONS = 768;
export const signal = new AbortController().signal;

/** The sources in one module: dist has no entry for them. */
export async function loadCode(folder) {
  const names = ["retrieval-store", "ingest", "search", "chunk", "quantize"].map((name) => `context/retrieval/${name}`);
  const modules = [
    ...names,
    "testkit/mock-embeddings",
    "providers/embeddings/embedder",
    "system/http-client",
    "system/node-clock",
  ];
  const contents = modules.map((name) => `export * from "${ROOT}/src/${name}.ts";`).join("\n");
  const outfile = join(folder, "code.mjs");
  const { build } = await import("esbuild");
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const options = { bundle: true, packages: "external", platform: "node", format: "esm", logLevel: "silent" };
  await build({ ...options, stdin: { contents, resolveDir: ROOT, loader: "ts" }, outfile, loader: { ".md": "text" } });
  return import(pathToFileURL(outfile).href);
}

export function openStore(code, path) {
  return code.RetrievalStore.open({ path, key: KEY, wall: Date.now });
}

/** `documents`: [path, text]. */
export async function fill(code, store, documents) {
  const source = store.beginSource("folder", documents[0][0]);
  async function* each() {
    for (const [path, text] of documents) {
      const sha256 = createHash("sha256").update(text).digest("hex");
      yield { path, stamp: sha256, read: async () => ({ text, kind: code.kindOf(path), sha256 }) };
    }
  }
  await code.ingest(store, { source, documents: each(), signal });
}
