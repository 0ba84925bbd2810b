// node tools/bench/retrieval.mjs --set FOLDER: quality on a test collection in the format of Cranfield (cran.all.1400, cran.qry, cranqrel).
// node tools/bench/retrieval.mjs --scale N: speed, memory and size of a store with N chunks of text found under node_modules.
// node tools/bench/retrieval.mjs --vectors N: ways to find the nearest of N vectors, beside each other.
// No embedding model is needed: vectors come from src/testkit/mock-embeddings.ts, by the protocol of Ollama where quality is measured.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const KEY = new Uint8Array(32).fill(5);
const DIMENSIONS = 768;
const signal = new AbortController().signal;
const [what, given] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "oxbow-bench-retrieval-"));

try {
  const code = what === "--queries" ? await import(process.argv[4]) : await load();
  if (what === "--set") await quality(code, given);
  else if (what === "--scale") await scale(code, Number(given));
  else if (what === "--queries") await queries(code, given);
  else if (what === "--vectors") vectors(code, Number(given));
  else process.stderr.write("give --set FOLDER, --scale N or --vectors N\n");
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The sources in one module: dist has no entry for them. */
async function load() {
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

function openStore(code, path) {
  return code.RetrievalStore.open({ path, key: KEY, wall: Date.now });
}

/** `documents`: [path, text]. */
async function fill(code, store, documents) {
  const source = store.beginSource("folder", documents[0][0]);
  async function* each() {
    for (const [path, text] of documents) {
      const sha256 = createHash("sha256").update(text).digest("hex");
      yield { path, stamp: sha256, read: async () => ({ text, kind: code.kindOf(path), sha256 }) };
    }
  }
  await code.ingest(store, { source, documents: each(), signal });
}

async function quality(code, set) {
  const { documents, questions, relevant } = readCollection(set);
  const server = await code.startMockEmbeddings({ dimensions: DIMENSIONS });
  const endpoint = { provider: "ollama", family: "ollama", baseUrl: server.url, local: true };
  const { nodeClock: clock } = code;
  const embedder = code.createEmbedder({
    wire: "ollama",
    endpoint,
    model: "hash",
    http: code.createHttpClient(),
    clock,
  });
  const store = await openStore(code, join(folder, "q.db"));
  await fill(code, store, documents);
  store.bind(embedder.model);
  await code.embedPending(store, { embedder, signal });
  process.stdout.write(
    `${documents.length} documents, ${store.counts().chunks} chunks, ${questions.length} questions\n`,
  );
  for (const by of ["words", "vectors", "both"]) {
    const sums = { recall: 0, gain: 0 };
    for (const [id, text] of questions) {
      const { found } = await code.searchStore(store, text, { embedder, by, top: 60, minimum: -1 });
      const ranked = [...new Set(found.map(({ path }) => path))];
      sums.recall += recallAt(5, ranked, relevant.get(id));
      sums.gain += gainAt(10, ranked, relevant.get(id));
    }
    const mean = (sum) => (sum / questions.length).toFixed(3);
    process.stdout.write(`${by.padEnd(8)} recall@5 ${mean(sums.recall)}  nDCG@10 ${mean(sums.gain)}\n`);
  }
  store.close();
  await server.close();
}

function readCollection(set) {
  const entries = (name) =>
    readFileSync(join(set, name), "utf8")
      .replaceAll("\r", "")
      .split(/^\.I +/m)
      .slice(1)
      .map((entry) => [Number.parseInt(entry, 10), entry]);
  const part = (entry, letter) =>
    new RegExp(`^\\.${letter}\\n([\\s\\S]*?)(?=^\\.[A-Z]$|$(?![\\s\\S]))`, "m").exec(entry)?.[1]?.trim() ?? "";
  const documents = entries("cran.all.1400").map(([id, entry]) => [
    `${id}.md`,
    `# ${part(entry, "T").replaceAll("\n", " ")}\n\n${part(entry, "W")}`,
  ]);
  // The judgements count questions by their order. 1 is the best; 5 and -1 are not relevant.
  const questions = entries("cran.qry").map(([, entry], i) => [i + 1, part(entry, "W")]);
  const relevant = new Map();
  for (const line of readFileSync(join(set, "cranqrel"), "utf8").trim().split("\n")) {
    const [question, document, grade] = line.trim().split(/\s+/).map(Number);
    if (!(grade >= 1 && grade <= 4)) continue;
    if (!relevant.has(question)) relevant.set(question, new Map());
    relevant.get(question).set(`${document}.md`, 5 - grade);
  }
  return { documents, questions: questions.filter(([id]) => relevant.has(id)), relevant };
}

function recallAt(most, ranked, relevant) {
  return ranked.slice(0, most).filter((path) => relevant.has(path)).length / Math.min(relevant.size, most);
}

function gainAt(most, ranked, relevant) {
  const sum = (gains) => gains.slice(0, most).reduce((total, gain, i) => total + gain / Math.log2(i + 2), 0);
  const best = [...relevant.values()].sort((one, other) => other - one);
  return sum(ranked.map((path) => relevant.get(path) ?? 0)) / sum(best);
}

async function scale(code, wanted) {
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
  // In a process of its own, so that its memory is that of the questions.
  const { stdout } = spawnSync(
    process.execPath,
    [fileURLToPath(import.meta.url), "--queries", path, join(folder, "code.mjs")],
    {
      encoding: "utf8",
    },
  );
  process.stdout.write(stdout);
}

async function queries(code, path) {
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

function vectors(code, count) {
  const texts = Array.from({ length: count }, (_, i) =>
    Array.from({ length: 12 }, (_, n) => `w${Math.imul(i * 31 + n * 7, 2654435761) >>> 20}`).join(" "),
  );
  const all = texts.map((text) => code.hashEmbedding(text, DIMENSIONS));
  const asked = Array.from({ length: 20 }, (_, i) => all[Math.floor((i * count) / 20)]);
  const show = (name, times) =>
    process.stdout.write(
      `${name.padEnd(34)} ${times.sort((a, b) => a - b)[Math.floor(times.length / 2)].toFixed(1)} ms\n`,
    );
  const time = (name, work) => {
    work(asked[0]);
    show(
      name,
      asked.map((query) => {
        const at = performance.now();
        work(query);
        return performance.now() - at;
      }),
    );
  };
  const dot = (one, other) => {
    let sum = 0;
    for (let i = 0; i < one.length; i++) sum += one[i] * other[i];
    return sum;
  };
  time(
    "plain scan, Float32Array in memory",
    (query) => all.map((vector) => dot(query, vector)).sort((a, b) => b - a)[0],
  );
  const bytes = all.map((vector) => code.toBytes(vector));
  time(
    "plain scan, bytes in memory",
    (query) => bytes.map((vector) => code.cosine(query, vector)).sort((a, b) => b - a)[0],
  );
  const Native = createRequire(import.meta.url)("libsql");
  const database = new Native(join(folder, "v.db"), { encryptionKey: Buffer.from(KEY).toString("hex"), timeout: 5000 });
  database.exec(`CREATE TABLE v (id INTEGER PRIMARY KEY, e F32_BLOB(${DIMENSIONS}))`);
  const insert = database.prepare("INSERT INTO v VALUES (?, ?)");
  database.exec("BEGIN");
  for (const [i, vector] of all.entries()) insert.run([i + 1, Buffer.from(vector.buffer)]);
  database.exec("COMMIT");
  const nearest = database.prepare("SELECT id FROM v ORDER BY vector_distance_cos(e, ?) LIMIT 5").raw();
  time("SQL, vector_distance_cos", (query) => nearest.all([Buffer.from(query.buffer)]));
  indexed(Native, all.slice(0, Math.min(count, 500)), asked, show);
}

/** libsql's own index; it takes so long to fill that few vectors have to do. */
function indexed(Native, all, asked, show) {
  const path = join(folder, "i.db");
  const database = new Native(path, { encryptionKey: Buffer.from(KEY).toString("hex"), timeout: 5000 });
  database.exec(
    `CREATE TABLE v (id INTEGER PRIMARY KEY, e F32_BLOB(${DIMENSIONS})); CREATE INDEX vi ON v (libsql_vector_idx(e))`,
  );
  const insert = database.prepare("INSERT INTO v VALUES (?, ?)");
  const began = performance.now();
  database.exec("BEGIN");
  for (const [i, vector] of all.entries()) insert.run([i + 1, Buffer.from(vector.buffer)]);
  database.exec("COMMIT");
  const filled = performance.now() - began;
  const nearest = database.prepare("SELECT id FROM vector_top_k('vi', ?, 5)").raw();
  show(
    `libsql_vector_idx, ${all.length} vectors`,
    asked.map((query) => {
      const at = performance.now();
      nearest.all([Buffer.from(query.buffer)]);
      return performance.now() - at;
    }),
  );
  process.stdout.write(
    `  filling it took ${(filled / all.length).toFixed(1)} ms for each vector; ${Math.round(statSync(path).size / all.length / 1000)} KB each on disk\n`,
  );
}
