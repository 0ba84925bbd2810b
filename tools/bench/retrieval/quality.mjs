/** Describes how good the order of what is found is: recall@5 and nDCG@10 by words, by vectors and by both. */
import { join } from "node:path";
import { DIMENSIONS, fill, openStore, signal } from "./code.mjs";
import { readCollection } from "./collections.mjs";

const WAYS = ["words", "vectors", "both"];

/** `embed`: the address of an embedding server; without one, a server that hashes words stands in for a model. */
export async function measureQuality(code, { folder, set, embed, model = "hash", wire = "ollama" }) {
  const { documents, questions, relevant } = readCollection(set);
  const server = embed === undefined ? await code.startMockEmbeddings({ dimensions: DIMENSIONS }) : undefined;
  const embedder = code.createEmbedder({
    wire,
    endpoint: { provider: "ollama", family: "ollama", baseUrl: embed ?? server.url, local: true },
    model,
    http: code.createHttpClient(),
    clock: code.nodeClock,
  });
  const store = await openStore(code, join(folder, "q.db"));
  await fill(code, store, documents);
  store.bind(embedder.model);
  await code.embedPending(store, { embedder, signal });
  const { chunks } = store.counts();
  process.stdout.write(
    `${documents.length} documents, ${chunks} chunks, ${questions.length} questions; vectors of ${embed === undefined ? "a stand-in" : model}\n`,
  );
  for (const by of WAYS) {
    const sums = { recall: 0, gain: 0 };
    for (const [id, text] of questions) {
      const { found, problem } = await code.searchStore(store, text, { embedder, by, top: 60, minimum: -1 });
      if (problem !== undefined) throw new Error(problem);
      const ranked = [...new Set(found.map(({ path }) => path))];
      sums.recall += recallAt(5, ranked, relevant.get(id));
      sums.gain += gainAt(10, ranked, relevant.get(id));
    }
    const mean = (sum) => (sum / questions.length).toFixed(3);
    process.stdout.write(`${by.padEnd(8)} recall@5 ${mean(sums.recall)}  nDCG@10 ${mean(sums.gain)}\n`);
  }
  store.close();
  await server?.close();
}

export function recallAt(most, ranked, relevant) {
  return ranked.slice(0, most).filter((path) => relevant.has(path)).length / Math.min(relevant.size, most);
}

export function gainAt(most, ranked, relevant) {
  const sum = (gains) => gains.slice(0, most).reduce((total, gain, i) => total + gain / Math.log2(i + 2), 0);
  const best = [...relevant.values()].sort((one, other) => other - one);
  return sum(ranked.map((path) => relevant.get(path) ?? 0)) / sum(best);
}
