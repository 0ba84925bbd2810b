/**
 * node tools/bench/retrieval.mjs --set FOLDER [--embed ADDRESS --model NAME [--wire ollama|openai-chat]]
 *   quality on a test collection (retrieval/collections.mjs names the forms), with the embedding server at ADDRESS or a stand-in
 * node tools/bench/retrieval.mjs --scale N: speed, memory and size of a store with N chunks of text found under node_modules
 * node tools/bench/retrieval.mjs --vectors N: ways to find the nearest of N vectors, beside each other
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { loadCode } from "./retrieval/code.mjs";

const text = { type: "string" };
const options = {
  set: text,
  embed: text,
  model: text,
  wire: text,
  scale: text,
  vectors: text,
  queries: text,
  code: text,
};
const { values } = parseArgs({ options });
const folder = mkdtempSync(join(tmpdir(), "oxbow-bench-retrieval-"));

try {
  const code = values.code === undefined ? await loadCode(folder) : await import(values.code);
  if (values.set !== undefined) {
    const { measureQuality } = await import("./retrieval/quality.mjs");
    await measureQuality(code, { ...values, folder });
  } else if (values.scale !== undefined) {
    const { measureScale } = await import("./retrieval/scale.mjs");
    const program = fileURLToPath(import.meta.url);
    await measureScale(code, { folder, wanted: Number(values.scale), program });
  } else if (values.queries !== undefined) {
    const { measureQueries } = await import("./retrieval/scale.mjs");
    await measureQueries(code, values.queries);
  } else if (values.vectors !== undefined) {
    const { compareVectors } = await import("./retrieval/vectors.mjs");
    compareVectors(code, { folder, count: Number(values.vectors) });
  } else process.stderr.write("give --set FOLDER, --scale N or --vectors N\n");
} finally {
  rmSync(folder, { recursive: true, force: true });
}
