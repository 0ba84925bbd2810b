/** Speed, memory and size of a store with many chunks. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DIMENSIONS, fill, openStore, ROOT, signal } from "./code.mjs";

export async function measureScale(code, { folder, wanted, program }) {
  const path = join(folder, "s.db");
  const store = await openStore(code, path);
  store.bind("ollama:hash");
  const texts = textFiles(join(ROOT, "node_modules"));
  const began = performance.now();
  const batch = [];
  let round = 0;
  const documents = [];
  // The same text again would have the same words; a number in each line keeps copies apart.
  while (store.counts().chunks < wanted) {
    for (const [name, text] of texts) {
      batch.push([`${round}/${name}`, round === 0 ? text : text.replaceAll("\n", ` r${round}\n`)]);
      if (batch.length < 200) continue;
      documents.push(...batch.splice(0));
      await fill(code, store, documents.splice(0));
      if (store.counts().chunks >= wanted) break;
    }
    round++;
  }
  const stored = performance.now();
  const { chunks } = store.counts();
  const embedder = {
    model: "ollama:hash",
    embed: async (all) => all.map((text) => code.hashEmbedding(text, DIMENSIONS)),
  };
  let inModel = 0;
  const timed = {
    ...embedder,
    embed: async (all) => {
      const at = performance.now();
      const made = await embedder.embed(all);
      inModel += performance.now() - at;
      return made;
    },
  };
  await code.embedPending(store, { embedder: timed, signal });
  const embedded = performance.now() - stored - inModel;
  store.close();
  const rate = (ms) => Math.round((chunks * 1000) / ms).toLocaleString("en");
  const line = `${chunks.toLocaleString("en")} chunks: words ${rate(stored - began)}/s, vectors ${rate(embedded)}/s (${DIMENSIONS} dimensions, without the model)`;
  process.stdout.write(`${line}, database ${Math.round(statSync(path).size / 1e6)} MB\n`);
  const { stdout } = spawnSync(process.execPath, [program, "--queries", path, "--code", join(folder, "code.mjs")], {
    encoding: "utf8",
  });
  process.stdout.write(stdout);
}

/** In a process of its own, so that its memory is that of the questions. */
export async function measureQueries(code, path) {
  const store = await openStore(code, path);
  const embedder = {
    model: "ollama:hash",
    embed: async (all) => all.map((text) => code.hashEmbedding(text, DIMENSIONS)),
  };
  const { chunks } = store.counts();
  const times = { both: [], words: [], vectors: [] };
  const work = { both: [], words: [], vectors: [] };
  const start = performance.now();
  await code.searchStore(store, "how is it configured", { embedder });
  const first = performance.now() - start;
  for (let i = 0; i < 300; i++) {
    const [chunk] = store.chunks([1 + Math.floor((i * chunks) / 300)]);
    const words = (chunk?.text ?? "nothing").match(/[A-Za-z]{3,}/g) ?? ["nothing"];
    const at = (i * 7) % Math.max(1, words.length - 12);
    const question = words.slice(at, at + 3 + (i % 10)).join(" ");
    for (const by of Object.keys(times)) {
      const [began, before] = [performance.now(), process.cpuUsage()];
      await code.searchStore(store, question, { embedder, by });
      const { user, system } = process.cpuUsage(before);
      times[by].push(performance.now() - began);
      work[by].push((user + system) / 1000);
    }
  }
  const at = (list, share) => list.sort((one, other) => one - other)[Math.floor(list.length * share)].toFixed(1);
  for (const [by, list] of Object.entries(times))
    process.stdout.write(
      `${by.padEnd(8)} p50 ${at(list, 0.5)} ms  p95 ${at(list, 0.95)} ms; of the processor p50 ${at(work[by], 0.5)} ms  p95 ${at(work[by], 0.95)} ms\n`,
    );
  process.stdout.write(
    `first question ${first.toFixed(0)} ms; memory ${Math.round(process.memoryUsage().rss / 1e6)} MB now, ${Math.round(process.resourceUsage().maxRSS / 1e3)} MB at most\n`,
  );
  store.close();
}

function textFiles(start) {
  const found = [];
  const walk = (place, prefix) => {
    for (const entry of readdirSync(place, { withFileTypes: true })) {
      const path = join(place, entry.name);
      if (entry.isDirectory()) walk(path, `${prefix}${entry.name}/`);
      else if (/\.(md|d\.ts|js|mjs)$/.test(entry.name) && statSync(path).size < 200_000)
        found.push([`${prefix}${entry.name}`, path]);
    }
  };
  walk(start, "");
  return found
    .sort()
    .map(([name, path]) => [name, readFileSync(path, "utf8")])
    .filter(([, text]) => text.split("\n").every((line) => line.length < 2000));
}
