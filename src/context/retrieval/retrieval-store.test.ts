import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { Embedder } from "../../base/embedder.js";
import { Database } from "../../system/sqlite/database.js";
import { migrate } from "../../system/sqlite/migrate.js";
import { hashEmbedding } from "../../testkit/mock-embeddings.js";
import { embedPending, ingest, type SourceDocument } from "./ingest.js";
import { RetrievalStore } from "./retrieval-store.js";
import { MIGRATIONS } from "./schema.js";
import { searchStore } from "./search.js";

const KEY = new Uint8Array(32).fill(7);
let folder: string;
let store: RetrievalStore;
const signal = new AbortController().signal;
const embedder: Embedder = {
  model: "ollama:hash",
  embed: async (texts) => texts.map((text) => hashEmbedding(text, 128)),
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-retrieval-"));
  store = await RetrievalStore.open({ path: join(folder, "s.db"), key: KEY, wall: () => 0 });
});
afterEach(async () => {
  store.close();
  await rm(folder, { recursive: true });
});

let reads = 0;
async function* documents(texts: Readonly<Record<string, string>>): AsyncGenerator<SourceDocument> {
  for (const [path, text] of Object.entries(texts)) {
    const read = async () => {
      reads++;
      return text === "binary" ? { skipped: "it is binary" } : { text, kind: "markdown" as const, sha256: text };
    };
    yield { path, stamp: text, read };
  }
}

async function put(texts: Readonly<Record<string, string>>) {
  const source = store.beginSource("folder", "/docs");
  return ingest(store, { source, documents: documents(texts), signal });
}

const BOOK = {
  "a.md": "# Retries\n\nThe client repeats a request after a timeout, with growing pauses.",
  "b.md": "# Cooking\n\nBoil the potatoes in salted water until they are soft.",
  "c.md": "# Gärten\n\nIm Frühling blühen die Bäume. 東京都の天気予報。",
};

describe("a retrieval store", () => {
  verifies(["X6"], "finds by words alone, and nothing where the words do not fit", async () => {
    await put(BOOK);
    const find = async (question: string) =>
      (await searchStore(store, question)).found.map(({ path, scored }) => [path, scored]);
    expect(await find("How often are requests repeated?")).toEqual([["a.md", "words"]]);
    expect(await find("boiling potato")).toEqual([["b.md", "words"]]);
    expect(await find("fruhling baume")).toEqual([["c.md", "words"]]);
    expect(await find("天気")).toEqual([["c.md", "words"]]);
    expect(await find("quantum chromodynamics with a client of mine and lattices")).toEqual([]);
    expect(await find('" OR NEAR(a* -b ^c: {')).toEqual([]);
  });

  verifies(["X6"], "keeps a document as long as one of its sources has it", async () => {
    const from = async (place: string, names: readonly (keyof typeof BOOK)[]) => {
      const source = store.beginSource("folder", place);
      const texts = Object.fromEntries(names.map((name) => [name, BOOK[name]]));
      return { source, ...(await ingest(store, { source, documents: documents(texts), signal })) };
    };
    const paths = async () =>
      Promise.all(Object.keys(BOOK).map(async (path) => (store.document(path) === undefined ? "" : path))).then((all) =>
        all.filter((path) => path !== ""),
      );
    const found = async () => (await searchStore(store, "boiling potato")).found.map(({ path }) => path);
    const all = await from("/docs", ["a.md", "b.md", "c.md"]);
    const part = await from("/docs/b*", ["b.md"]);
    store.bind("ollama:hash");
    await embedPending(store, { embedder, signal });
    expect(store.sources().map(({ documents: n }) => n)).toEqual([3, 1]);
    store.dropSource(all.source);
    expect([await paths(), await found()]).toEqual([["b.md"], ["b.md"]]);
    expect(store.counts(), "its vectors stay").toEqual({ documents: 1, chunks: 1, embedded: 1 });
    const again = await from("/docs", ["a.md", "b.md"]);
    store.dropSource(part.source);
    expect([await paths(), await found()]).toEqual([["a.md", "b.md"], ["b.md"]]);
    const other = await from("/other", ["b.md", "c.md"]);
    expect((await from("/docs", ["a.md"])).removed, "the other one still has it").toBe(0);
    expect(await paths()).toEqual(["a.md", "b.md", "c.md"]);
    expect((await from("/other", [])).removed).toBe(2);
    store.dropSource(again.source);
    store.dropSource(other.source);
    expect([await paths(), await found(), store.counts()]).toEqual([[], [], { documents: 0, chunks: 0, embedded: 0 }]);
  });

  verifies(["X6"], "of an earlier version gets to know which source has which document", async () => {
    store.close();
    await rm(join(folder, "s.db"));
    const database = await Database.open({ path: join(folder, "s.db"), key: KEY });
    migrate(database, { wall: () => 0, migrations: MIGRATIONS.slice(0, 1) });
    database.script(
      "INSERT INTO sources (kind, place) VALUES ('folder', '/docs'), ('folder', '/more'); " +
        "INSERT INTO documents (source, path, stamp, sha256, stored_at) VALUES (1, 'b.md', 's', 'h', '')",
    );
    database.close();
    store = await RetrievalStore.open({ path: join(folder, "s.db"), key: KEY, wall: () => 0 });
    expect(store.sources().map(({ documents: n }) => n)).toEqual([1, 0]);
    const more = store.beginSource("folder", "/more");
    await ingest(store, { source: more, documents: documents({ "b.md": BOOK["b.md"] }), signal });
    store.dropSource(1);
    expect(store.counts().documents).toBe(1);
  });

  it("makes its index of words again when they are found by another rule", async () => {
    // More chunks than are read at once.
    await put({ ...Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`${at}.md`, word(at)])), ...BOOK });
    store.close();
    const database = await Database.open({ path: join(folder, "s.db"), key: KEY });
    database.script("INSERT INTO chunk_words (chunk_words) VALUES ('delete-all'); PRAGMA user_version = 1");
    database.close();
    store = await RetrievalStore.open({ path: join(folder, "s.db"), key: KEY, wall: () => 0 });
    expect((await searchStore(store, "boiling potato")).found.map(({ path }) => path)).toEqual(["b.md"]);
  });

  verifies(["X6"], "finds by words and vectors, and leaves out what is below the least cosine", async () => {
    await put(BOOK);
    store.bind(embedder.model);
    const seen: (readonly [number, number])[] = [];
    expect(await embedPending(store, { embedder, signal, onProgress: (...at) => seen.push(at) })).toBe(3);
    await put({ ...BOOK, "late.md": "# Late\n\nwords" });
    await embedPending(store, { embedder, signal, onProgress: (...at) => seen.push(at) });
    expect(seen.filter(([done, total]) => done === total)).toEqual([
      [3, 3],
      [1, 1],
    ]);
    await put(BOOK);
    const { found } = await searchStore(store, "client timeout pauses", { embedder });
    expect(found.map(({ path, scored }) => [path, scored])).toEqual([["a.md", "cosine"]]);
    expect(found[0]?.score).toBeGreaterThan(0.3);
    const all = await searchStore(store, "client timeout pauses", { embedder, minimum: -1 });
    expect(all.found.length).toBe(3);
  });

  it("finds by words when the model does not answer, and reports it", async () => {
    await put(BOOK);
    store.bind(embedder.model);
    await embedPending(store, { embedder, signal });
    const broken: Embedder = { ...embedder, embed: async () => Promise.reject(new Error("no server")) };
    expect(await searchStore(store, "potatoes", { embedder: broken })).toMatchObject({
      found: [{ path: "b.md", scored: "words" }],
      problem: "no server",
    });
  });

  verifies(
    ["X6"],
    "reads only what is new, keeps the vectors of unchanged chunks and forgets what is gone",
    async () => {
      const long = (word: string) => `## ${word}\n\n${`${word} `.repeat(120)}`;
      await put({ ...BOOK, "d.md": `${long("alpha")}\n\n${long("beta")}`, "e.bin": "binary" });
      store.bind(embedder.model);
      await embedPending(store, { embedder, signal });
      expect(store.counts()).toEqual({ documents: 4, chunks: 5, embedded: 5 });
      reads = 0;
      const { "b.md": _gone, ...rest } = BOOK;
      const report = await put({ ...rest, "d.md": `${long("alpha")}\n\n${long("gamma")}` });
      expect({ ...report, reads }).toMatchObject({ seen: 3, stored: 1, removed: 1, reads: 1 });
      expect(store.counts()).toEqual({ documents: 3, chunks: 4, embedded: 3 });
      expect(await embedPending(store, { embedder, signal })).toBe(1);
      expect((await searchStore(store, "beta")).found).toEqual([]);
      expect((await searchStore(store, "gamma", { embedder })).found.length).toBe(1);
    },
  );

  verifies(["X6"], "refuses vectors of another length", async () => {
    await put(BOOK);
    store.bind(embedder.model);
    await embedPending(store, { embedder, signal });
    expect(() => store.putVectors([{ chunk: 1, vector: new Float32Array(64) }])).toThrow("128");
    expect(() => store.bind("ollama:other")).toThrow();
    store.rebind("ollama:other");
    expect(store.counts().embedded).toBe(0);
    expect(store.binding).toMatchObject({ model: "ollama:other", dimensions: undefined });
  });

  it("says why a question has no vector, and uses words then", async () => {
    await put(BOOK);
    store.bind(embedder.model);
    const search = (vectors: readonly ArrayLike<number>[]) =>
      searchStore(store, "potatoes", { embedder: { ...embedder, embed: async () => vectors as Float32Array[] } });
    // Before the first vector is stored the model is not asked.
    expect(await search([])).not.toHaveProperty("problem");
    await embedPending(store, { embedder, signal });
    const words = [{ path: "b.md", scored: "words" }];
    expect(await search([])).toMatchObject({ found: words, problem: "it gave no vector" });
    expect(await search([new Float32Array(128)])).toMatchObject({
      ...{ found: words, problem: "it gave a vector without a direction" },
    });
    expect((await search([new Float32Array(64)])).problem).toContain("64 dimensions; those of the store have 128");
    expect(await search([hashEmbedding("potatoes", 128)])).not.toHaveProperty("problem");
    const stopped = AbortSignal.abort(new Error("stopped"));
    const broken = { ...embedder, embed: () => Promise.reject(new Error("stopped")) };
    await expect(searchStore(store, "potatoes", { embedder: broken, signal: stopped })).rejects.toThrow("stopped");
  });

  it("gives as many as asked, by words, vectors or both, of the beginning of a question", async () => {
    const fruit = (at: number) => `# Fruit ${word(at)}\n\n${"apple ".repeat(at + 1)}${word(at)}`;
    await put(Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`${at}.md`, fruit(at)])));
    store.bind(embedder.model);
    const count = async (question: string, more: object = {}) =>
      (await searchStore(store, question, more)).found.length;
    expect([await count("apple"), await count("apple", { top: 2 }), await count("apple", { top: 50 })]).toEqual([
      5, 2, 9,
    ]);
    expect([await count(" \n"), await count("pear")]).toEqual([0, 0]);
    expect(await count(`${" ".repeat(1995)}apple`)).toBe(5);
    expect(await count(`${" ".repeat(1999)}apple`)).toBe(0);
    expect(await count("apple", { by: "vectors" })).toBe(0);
    await embedPending(store, { embedder, signal });
    const asked: string[] = [];
    const noted: Embedder = {
      ...embedder,
      embed: (texts) => {
        asked.push(...texts);
        return embedder.embed(texts);
      },
    };
    expect(await count("apple", { embedder: noted, by: "words" })).toBe(5);
    expect(asked).toEqual([]);
    const byMeaning = await searchStore(store, fruit(4), { embedder: noted, by: "vectors", top: 1 });
    expect(byMeaning.found).toMatchObject([{ path: "4.md", scored: "cosine" }]);
    expect(asked).toHaveLength(1);
    // A question of which a chunk has a third of the words, by their weight.
    const rare = `${word(3)} nowhere1 nowhere2 nowhere3`;
    expect([await count(rare, { by: "words" }), await count(rare, { by: "words", minimum: 0.1 })]).toEqual([0, 1]);
  });

  it("knows a document with another stamp by its content, and keeps what cannot be read just now", async () => {
    const source = store.beginSource("folder", "/docs");
    const run = async (document: Partial<SourceDocument>) => {
      async function* one(): AsyncGenerator<SourceDocument> {
        const read = async () => ({ text: BOOK["a.md"], kind: "markdown" as const, sha256: "a" });
        yield { path: "a.md", stamp: "1", read, ...document };
      }
      const before = store.version;
      const report = await ingest(store, { source, documents: one(), signal });
      return { ...report, stamp: store.document("a.md")?.stamp, changed: store.version > before };
    };
    const never = () => Promise.reject(new Error("it is read"));
    expect(await run({})).toMatchObject({ stored: 1, stamp: "1", changed: true });
    expect(await run({ read: never })).toMatchObject({ seen: 1, stored: 0, removed: 0, changed: false });
    expect(await run({ stamp: "2" })).toMatchObject({ stored: 0, stamp: "2" });
    const stamped = async () => ({ text: "x", kind: "markdown" as const, sha256: "a", stamp: "3" });
    expect(await run({ stamp: "", read: stamped })).toMatchObject({ stored: 0, stamp: "3" });
    expect(await run({ stamp: "", read: never }).catch(String)).toContain("it is read");
    const skipped = { skipped: "the server is busy", stays: true as const };
    expect(await run({ stamp: "4", read: async () => skipped })).toMatchObject({
      ...{ removed: 0, skipped: [{ path: "a.md", reason: "the server is busy" }], stamp: "3" },
    });
    const gone = { skipped: "it is too large" };
    expect(await run({ stamp: "5", read: async () => gone })).toMatchObject({ removed: 1 });
    expect(await run({ stamp: "6" })).toMatchObject({ stored: 1 });
    expect(await run({ path: "b.md", stamp: "4", read: async () => skipped })).toMatchObject({ removed: 1 });
    expect(store.counts()).toEqual({ documents: 0, chunks: 0, embedded: 0 });
  });

  it("stores documents in groups, and makes vectors in batches with the prefix of their model", async () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}.md`, `# ${word(at)}\n\n${word(at * 3)}`]));
    const seen: (readonly [number, number])[] = [];
    const source = store.beginSource("folder", "/docs");
    const onProgress = ({ seen: all, stored }: { seen: number; stored: number }) => void seen.push([all, stored]);
    await ingest(store, { source, documents: documents(many(130)), signal, onProgress });
    expect(seen).toEqual([
      [64, 64],
      [128, 128],
      [130, 130],
    ]);
    store.bind("ollama:nomic-embed-text");
    const batches: string[][] = [];
    const noted: Embedder = {
      ...embedder,
      embed: (texts) => {
        batches.push([...texts]);
        return embedder.embed(texts);
      },
    };
    const progress: (readonly [number, number])[] = [];
    const embedding = {
      embedder: noted,
      signal,
      onProgress: (done: number, all: number) => void progress.push([done, all]),
    };
    expect(await embedPending(store, embedding)).toBe(130);
    expect(batches.map(({ length }) => length)).toEqual([32, 32, 32, 32, 2]);
    expect(batches[0]?.[0]).toMatch(/^search_document: \S+\n/);
    expect(progress.at(0)).toEqual([32, 130]);
    expect(progress.at(-1)).toEqual([130, 130]);
    expect(await embedPending(store, embedding)).toBe(0);
    const stopped = AbortSignal.abort(new Error("stopped"));
    await expect(embedPending(store, { ...embedding, signal: stopped })).rejects.toThrow("stopped");
    await expect(ingest(store, { source, documents: documents(many(1)), signal: stopped })).rejects.toThrow("stopped");
  });

  it("gives a passage once, although several documents have it", async () => {
    await put({ ...BOOK, "copy.md": BOOK["a.md"] });
    expect((await searchStore(store, "client repeats requests")).found.length).toBe(1);
  });

  it("is unreadable without its key", async () => {
    await put(BOOK);
    store.close();
    const bytes = await readFile(join(folder, "s.db"));
    expect(bytes.includes("potatoes")).toBe(false);
    const other = { path: join(folder, "s.db"), key: new Uint8Array(32).fill(8), wall: () => 0 };
    await expect(RetrievalStore.open(other)).rejects.toThrow(/^The retrieval store .* was made with another key/);
    store = await RetrievalStore.open({ ...other, key: KEY });
  });

  it("compares many vectors as exactly as a plain scan, nearly", async () => {
    const texts = Object.fromEntries(
      Array.from({ length: 400 }, (_, i) => [
        `${i}.md`,
        `# ${word(i)} ${word(i + 1)}\n\n${word(i * 7)} ${word(i * 3)} ${word(i % 40)}`,
      ]),
    );
    await put(texts);
    store.bind(embedder.model);
    await embedPending(store, { embedder, signal });
    for (const i of [3, 77, 200]) {
      const question = hashEmbedding(`${word(i)} ${word(i * 7)}`, 128);
      const near = store.vectors.nearest(question, 5, store.version);
      const all = store.vectors.cosines(
        question,
        Array.from({ length: 400 }, (_, n) => n + 1),
      );
      const best = all.sort((one, other) => other.cosine - one.cosine).slice(0, 5);
      expect(near.map(({ chunk }) => chunk)).toEqual(best.map(({ chunk }) => chunk));
    }
  });
});

function word(i: number): string {
  return `w${(((i + 1) * 2654435761) % 4294967296).toString(36)}`;
}
