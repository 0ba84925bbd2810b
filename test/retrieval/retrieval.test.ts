import { createHash } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { shellPlace } from "../../src/cli/subject-command.js";
import { type Said, slashLine } from "../../src/commands/test-support/slash-line.js";
import { retrievalCommands } from "../../src/context/retrieval/commands.js";
import type { Retrieval } from "../../src/context/retrieval/stores.js";
import { parseFlags } from "../../src/feature/flags.js";
import { openRetrieval } from "../../src/runtime/retrieval.js";
import { withLock } from "../../src/system/file-lock.js";
import { nodeClock } from "../../src/system/node-clock.js";
import {
  hashEmbedding,
  type MockEmbeddings,
  type MockEmbeddingsOptions,
  startMockEmbeddings,
} from "../../src/testkit/mock-embeddings.js";
import { buildChildPrograms, type ChildPrograms } from "../support/child-programs.js";
import { rerun } from "../support/transcript.js";
import { verifies } from "../verifies.js";

let base: string;
let folder: string;
let server: MockEmbeddings | undefined;
let children: ChildPrograms;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  children = await buildChildPrograms(import.meta.url, "ingest");
});
afterAll(() => children.discard());
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "oxbow-rag-")));
  folder = join(base, "work");
  await mkdir(folder);
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await server?.close();
  server = undefined;
  await rm(base, { recursive: true });
});

const home = () => join(base, "home");

async function write(files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

interface Opened {
  readonly rag: (line: string) => Promise<Said>;
  readonly retrieval: Retrieval;
}

async function open(
  options: MockEmbeddingsOptions & { readonly config?: string; readonly hosts?: string } = {},
): Promise<Opened> {
  server ??= await startMockEmbeddings(options);
  await mkdir(join(home(), "config"), { recursive: true });
  if (options.config !== undefined) await writeFile(join(home(), "config", "config.toml"), options.config);
  const variables = { OXBOW_HOME: home(), OLLAMA_HOST: server.url, LLAMACPP_BASE_URL: `${server.url}/v1` };
  const { port, close } = await openRetrieval(
    shellPlace(parseFlags([{ name: "cwd", value: "DIR", help: "" }], ["--cwd", folder], ""), variables, () => {}),
  );
  closing.push(close);
  const say = slashLine(...retrievalCommands(async () => port));
  return { rag: (line) => say(`rag ${line}`), retrieval: port.retrieval };
}

const paths = (said: Said) =>
  said.ok
    ? (said.value as { found: { path: string }[] }).found.map(({ path }) => path.replace(`${folder}/`, ""))
    : said.text;

describe("rag", () => {
  verifies(["X6"], "reads folders, globs and files by the rules, without secrets", async () => {
    const token = `ghp_${createHash("sha256").update("sample").digest("hex").slice(0, 36)}`;
    await write({
      ".gitignore": "build/\n",
      "docs/a.md": `# Deploy\n\nThe zeppelin deploys with the token ${token} today.`,
      "docs/b.ts": "export function zeppelin() {\n  return 1;\n}\n",
      "docs/page.html":
        "<html><body><h1>Landing</h1><p>The zeppelin lands softly.</p><script>evil()</script></body></html>",
      "build/c.md": "zeppelin in a build folder",
      ".env": "ZEPPELIN=secret",
      "docs/data.bin": Buffer.from([0, 1, 2, 3, 0]),
      "package-lock.json": "{}",
    });
    await symlink("/etc/passwd", join(folder, "docs", "link.md"));
    const { rag, retrieval } = await open();
    expect(await rag("new docs")).toMatchObject({ ok: true });
    expect(await rag("ingest . --in docs")).toMatchObject({ value: { seen: 5, stored: 4 } });
    expect(
      paths(await rag("query zeppelin"))
        .toString()
        .split(",")
        .sort(),
    ).toEqual(["docs/a.md", "docs/b.ts", "docs/page.html"]);
    const store = await retrieval.open(await retrieval.find("docs"));
    const texts = store
      .pending(0, 100)
      .map(({ text }) => text)
      .join("\n");
    expect(texts).toContain("«redacted:");
    expect(texts).not.toContain(token);
    expect(texts).not.toContain("evil()");
    expect(await rag("new other")).toMatchObject({ ok: true });
    expect(await rag("ingest docs/*.ts --in other")).toMatchObject({ value: { stored: 1 } });
    expect(await rag("ingest .env --in other").catch((error: Error) => error.message)).toContain(
      "environment files hold secrets",
    );
    expect(await rag("ingest nowhere --in other").catch((error: Error) => error.message)).toContain(
      "There is nothing at nowhere",
    );
    await unlink(join(folder, "docs/b.ts"));
    expect(await rag("ingest --in other")).toMatchObject({ value: { stored: 0, removed: 1 } });
  });

  verifies(["X6"], "fetches addresses through the guard, and keeps a page that is away for a moment", async () => {
    let status = 200;
    const web = createServer((_request, response) => {
      response.writeHead(status, { "content-type": "text/html" });
      response.end("<h1>Harbour</h1><p>The harbour opens at dawn.</p>");
    });
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    closing.push(() => new Promise((resolve) => web.close(resolve)));
    const { port } = web.address() as AddressInfo;
    const { rag } = await open();
    await rag("new web");
    const address = `http://127.0.0.1:${port}/page`;
    expect(await rag(`ingest ${address}`)).toMatchObject({
      ok: false,
      text: expect.stringMatching(/^Nothing was stored: .*Not fetched/),
    });
    expect(await rag("status web")).toMatchObject({ value: { sources: [] } });
    const allowed = await open({ config: `web_hosts = ["127.0.0.1:${port}"]\n` });
    expect(await allowed.rag(`ingest ${address}`)).toMatchObject({ value: { stored: 1 } });
    status = 503;
    expect(await allowed.rag("ingest")).toMatchObject({
      value: { removed: 0, skipped: [{ reason: expect.stringContaining("503") }] },
    });
    expect(paths(await allowed.rag("query harbour dawn"))).toEqual([address]);
  });

  it("refuses what it cannot read, by name, and keeps no source of it", async () => {
    await write({ "a.pdf": "%PDF-1.7 text", "b.bin": Buffer.from([0, 1, 2, 0]), "c.md": "The heron waits." });
    const { rag } = await open();
    await rag("new birds");
    for (const [words, message] of [
      ["a.pdf", /a\.pdf: it is a PDF file.*pdftotext\.$/],
      ["b.bin", /b\.bin: it is binary\.$/],
      ["*.zzz", /^Nothing was stored: no file matches\.$/],
    ] as const)
      expect(await rag(`ingest ${words}`)).toMatchObject({ ok: false, text: expect.stringMatching(message) });
    expect(await rag("ingest a.pdf c.md")).toMatchObject({ value: { stored: 1, skipped: [{}] } });
    // The same file again, also by another name for its place, is known.
    expect(await rag("ingest c.*")).toMatchObject({ ok: true, value: { stored: 0 } });
    expect(await rag("status birds")).toMatchObject({
      text: expect.stringContaining("birds: 1 document in 1 chunk,"),
      value: { sources: [{ kind: "file", documents: 1 }, { kind: "glob" }] },
    });
  });

  it.each([
    ["an answer in another form", { value: "<html>" }, /cannot read: an answer without embeddings/],
    ["no numbers", { value: { embeddings: [[null, 1]] } }, /cannot read: an answer without embeddings/],
    ["too few vectors", { value: { embeddings: [[1, 2]] } }, /1 embeddings of 2 numbers for 2 texts/],
  ] as const)("says what is wrong with %s, and words find what was stored", async (_name, answer, message) => {
    await write({ "a.md": "The heron waits.", "b.md": "The wren sings." });
    const { rag } = await open({ answer: () => answer });
    await rag("new birds --embed ollama:m");
    const ingesting = rag("ingest a.md b.md");
    await expect(ingesting).rejects.toThrow(message);
    await expect(ingesting).rejects.toThrow("2 chunks without a vector so far. /rag ingest --in birds continues.");
    expect(paths(await rag("query heron --by words"))).toEqual(["a.md"]);
  });

  it("finds by words what a model gave a vector without a direction", async () => {
    await write({ "a.md": "The heron waits." });
    const { rag } = await open({ answer: ({ texts }) => ({ value: { embeddings: texts.map(() => [0, 0, 0]) } }) });
    await rag("new birds --embed ollama:m");
    expect(await rag("ingest a.md")).toMatchObject({ value: { made: 1 } });
    expect(paths(await rag("query heron"))).toEqual(["a.md"]);
  });

  verifies(
    ["X6"],
    "binds a store to its model: another one is refused with the command that embeds again",
    async () => {
      await write({ "a.md": "The lighthouse keeper counts ships.", "b.md": "Bread needs flour and yeast." });
      const { rag, retrieval } = await open();
      await rag("new sea --embed nomic-embed-text");
      expect(await rag("ingest a.md b.md")).toMatchObject({ value: { made: 2 } });
      expect(server?.requests.at(-1)).toMatchObject({
        path: "/api/embed",
        model: "nomic-embed-text",
        texts: [expect.stringMatching(/^search_document: /), expect.anything()],
      });
      expect(paths(await rag("query ships and keepers"))).toEqual(["a.md"]);
      expect(server?.requests.at(-1)).toMatchObject({ texts: ["search_query: ships and keepers"] });
      const override = (model: string) =>
        rag(`override sea offline:offline ${model}`).catch((error: Error) => error.message);
      expect(await override("ollama:other")).toBe(
        "The vectors of sea are of ollama:nomic-embed-text; those of ollama:other do not compare with them. " +
          "To use that model, embed the store again: oxbow rag reembed sea --embed ollama:other",
      );
      // The same model of another provider.
      expect(await override("llamacpp:nomic-embed-text")).toMatchObject({ ok: true });
      const embedder = await retrieval.embedder(await retrieval.find("sea"), "offline:offline");
      expect(embedder?.model).toBe("llamacpp:nomic-embed-text");
      expect(await rag("reembed sea --embed ollama:other")).toMatchObject({ value: { made: 2 } });
      expect(await rag("status sea")).toMatchObject({ text: expect.stringContaining("ollama:other (256 dimensions)") });
      expect(await rag("reembed sea --embed none")).toMatchObject({ ok: true });
      expect(paths(await rag("query ships keeper"))).toEqual(["a.md"]);
      expect(await rag("drop sea")).toMatchObject({ ok: false, text: expect.stringContaining("--yes") });
      expect(await rag("drop sea --yes")).toMatchObject({ ok: true });
      expect(await rag("list")).toMatchObject({ value: { stores: [] } });
    },
  );

  verifies(["X6"], "continues after kill -9 where it was", async () => {
    await write(
      Object.fromEntries(
        Array.from({ length: 150 }, (_, i) => [`d${i}.md`, `# Note ${i}\n\nThe number of this note is ${i * 37}.`]),
      ),
    );
    let child: ReturnType<ChildPrograms["start"]> | undefined;
    let batches = 0;
    const { rag } = await open({
      onRequest: async () => {
        if (++batches !== 3) return undefined;
        child?.process.kill("SIGKILL");
        await child?.end;
        return 500;
      },
    });
    await rag("new notes --embed ollama:m");
    child = children.start("ingest", home(), folder, server?.url ?? "", "rag ingest . --in notes");
    expect((await child.end).signal).toBe("SIGKILL");
    expect(await rag("status notes")).toMatchObject({
      value: { documents: 150, chunks: 150, embedded: 64, missing: 86 },
    });
    expect(paths(await rag("query 1517 --by words"))).toEqual(["d41.md"]);
    const sent = server?.requests.length ?? 0;
    expect(await rag("ingest --in notes")).toMatchObject({ value: { stored: 0, made: 86 } });
    expect(server?.requests.slice(sent).flatMap(({ texts }) => texts).length).toBe(86);
    expect(await rag("status notes")).toMatchObject({ value: { embedded: 150, missing: 0 } });
  });

  verifies(["X6"], "takes over old configurations with one store and with several, once", async () => {
    const old = join(folder, "agents", "rag", "golang.db");
    await mkdir(dirname(old), { recursive: true });
    writeOldDatabase(old, [
      ["goroutines are cheap threads", "go.md"],
      ["channels carry values", "go.md"],
      ["no source", ""],
    ]);
    const { rag, retrieval } = await open({
      config: '[rag]\nenabled = true\ndb_path = "agents/rag/golang.db"\nembedding_model = "hash"\n',
    });
    expect(await rag("list")).toMatchObject({
      value: {
        stores: [{ name: "default", embedding_model: "ollama:hash" }],
        active: { active: "default", enabled: true },
      },
    });
    expect(await rag("status")).toMatchObject({ value: { chunks: 3, embedded: 3 } });
    expect(await rag("query goroutines cheap")).toMatchObject({
      value: { found: [{ path: "go.md", scored: "cosine" }] },
    });
    expect((await retrieval.active())?.name).toBe("default");
    await rag("drop default --yes");
    expect(await (await open()).rag("list")).toMatchObject({ value: { stores: [] } });
    await write({
      "harness.yaml":
        "rag:\n  enabled: true\n  active: two\n  stores:\n    - name: one\n      db_path: none.db\n      embedding_model: hash\n    - name: two\n      db_path: agents/rag/golang.db\n      embedding_model: hash\n      model_map:\n        qwen3: llamacpp:hash\n",
    });
    expect(await rag("migrate harness.yaml")).toMatchObject({ value: { stores: ["one", "two"] } });
    expect((await retrieval.active())?.model_map).toEqual({ qwen3: "llamacpp:hash" });
  });

  it("works on when an old database is none, and refuses a second writer", async () => {
    await write({ "old.db": "this is not a database at all ".repeat(50) });
    const { rag, retrieval } = await open({ config: '[rag]\ndb_path = "old.db"\nembedding_model = "hash"\n' });
    expect(await rag("list")).toMatchObject({ value: { stores: [] } });
    await rag("new docs");
    const path = `${retrieval.registry.fileOf(await retrieval.find("docs"))}.lock`;
    await withLock(path, { clock: nodeClock }, async () => {
      expect(await rag("ingest .")).toMatchObject({
        ok: false,
        text: expect.stringContaining("is writing to docs now"),
      });
      expect(await rag("drop docs --yes")).toMatchObject({ ok: false });
    });
    expect(await rag("ingest .")).toMatchObject({ ok: true });
  });

  it("refuses names that are no names, stores that are not there and models that cannot embed", async () => {
    const { rag } = await open();
    const refused = (line: string) =>
      rag(line).then(
        (said) => (said.ok ? "" : said.text),
        (error: Error) => error.message,
      );
    expect(await refused("new ../x")).toContain("not a valid name");
    await rag("new docs");
    expect(await refused("new docs")).toContain("already");
    expect(await refused("status dosc")).toContain("Did you mean docs?");
    expect(await refused("new far --embed anthropic:claude")).toMatch(/anthropic (needs a key|has no embeddings)/);
    expect(await refused("query x --top 0")).toContain("--top");
  });
});

function writeOldDatabase(path: string, rows: readonly (readonly [string, string])[]): void {
  const Native = createRequire(import.meta.url)("libsql") as new (
    path: string,
  ) => { exec(sql: string): void; prepare(sql: string): { run(values: unknown[]): void }; close(): void };
  const database = new Native(path);
  database.exec(
    "CREATE TABLE chunks (id INTEGER PRIMARY KEY, content TEXT NOT NULL, embedding BLOB NOT NULL, source TEXT NOT NULL DEFAULT '')",
  );
  const insert = database.prepare("INSERT INTO chunks (content, embedding, source) VALUES (?, ?, ?)");
  for (const [text, source] of rows) {
    const vector = hashEmbedding(text);
    const bytes = Buffer.alloc(4 + vector.length * 8);
    bytes.writeInt32LE(vector.length, 0);
    for (const [i, value] of vector.entries()) bytes.writeDoubleLE(value, 4 + i * 8);
    insert.run([text, bytes, source]);
  }
  database.close();
}

const TRANSCRIPT = `> list
No stores yet. Make one: /rag new docs, then /rag ingest docs/

> new birds
Created the store birds. Oxbow searches it by words. Next: /rag ingest PATH --in birds, then /rag on birds

> list
store  embedding model    made
birds  words only         DAY

> status
birds: 0 documents in 0 chunks, SIZE. Off in this folder.
Oxbow searches it by words.

> ingest --in birds
refused: birds has no sources yet. Name a file, a folder, a pattern or an address.

> ingest a.md --in birds
birds: 1 document checked, 1 new or changed, 0 removed, 0 left out; 1 chunk in all.

> ingest c.bin --in birds
refused: Nothing was stored: BASE/work/c.bin: it is binary.

> ingest nets/*.txt --in birds
refused: Nothing was stored: no file matches.

> ingest . --in birds
birds: 15 documents checked, 1 new or changed, 0 removed, 13 left out; 2 chunks in all.
  left out: BASE/work/c.bin: it is binary
  left out: BASE/work/more/10.bin: it is binary
  left out: BASE/work/more/11.bin: it is binary
  left out: BASE/work/more/12.bin: it is binary
  left out: BASE/work/more/13.bin: it is binary
  left out: BASE/work/more/14.bin: it is binary
  left out: BASE/work/more/15.bin: it is binary
  left out: BASE/work/more/16.bin: it is binary
  left out: BASE/work/more/17.bin: it is binary
  left out: BASE/work/more/18.bin: it is binary
  and 3 more

> status birds
birds: 2 documents in 2 chunks, SIZE. Off in this folder.
Oxbow searches it by words.
  file BASE/work/a.md: 1 document
  folder BASE/work: 2 documents

> query herons --top 1
1. a.md:1-11 (Herons)  words 1.00
   # Herons

   Line 1 about herons.
   Line 2 about herons.
   Line 3 about herons.
   Line 4 about herons.
   …

> query herons --top 0
refused: --top: expected a number from 1 to 100.

> query herons --top 101
refused: --top: expected a number from 1 to 100.

> query herons --top 1.5
refused: --top: expected a number from 1 to 100.

> query herons --min 1.1
refused: --min: expected a number up to 1.

> query herons --min=-1.1
refused: --min: expected a number up to 1.

> query herons --min x
refused: --min: expected a number up to 1.

> query green boats --min=-1 --top 100
1. b.md:1-3 (Boats)  words 1.00
   # Boats

   The boats are green.

> query herons boats --min 1
Nothing in birds is close enough. --min 0 shows the nearest anyway.

> query herons --by sound
refused: --by: expected both, words or vectors, got "sound".

> query herons boats green --by words --top 2
1. b.md:1-3 (Boats)  words 0.67
   # Boats

   The boats are green.

2. a.md:1-11 (Herons)  words 0.33
   # Herons

   Line 1 about herons.
   Line 2 about herons.
   Line 3 about herons.
   Line 4 about herons.
   …

> query herons boats green --top 1
1. b.md:1-3 (Boats)  words 0.67
   # Boats

   The boats are green.

> off
No store is on in this folder.

> on birds
birds is on in BASE/work: the model gets up to 5 passages with each input, and the tool 'retrieve'.

> new words
Created the store words. Oxbow searches it by words. Next: /rag ingest PATH --in words, then /rag on words

> list
store  embedding model           made
birds  words only       on here  DAY
words  words only                DAY

> status words
words: 0 documents in 0 chunks, SIZE. Off in this folder.
Oxbow searches it by words.

> drop words --yes
Deleted the store words with 0 chunks.

> off
birds is off in BASE/work.

> off
No store is on in this folder.

> list
store  embedding model            made
birds  words only       off here  DAY

> override birds offline:offline off
While offline:offline answers, Oxbow searches birds by words only.

> status
birds: 2 documents in 2 chunks, SIZE. Off in this folder.
Oxbow searches it by words.
While offline:offline answers: off.
  file BASE/work/a.md: 1 document
  folder BASE/work: 2 documents

> override birds offline:offline default
While offline:offline answers, Oxbow searches birds as usual.

> drop birds nowhere
refused: birds has no source nowhere. /rag status birds lists them.

> drop birds a.md
refused: This deletes BASE/work/a.md from birds. Add --yes to do it.

> drop birds a.md --yes
Deleted BASE/work/a.md from birds.

> status
birds: 2 documents in 2 chunks, SIZE. Off in this folder.
Oxbow searches it by words.
  folder BASE/work: 2 documents

> migrate nowhere.toml
refused: There is no file BASE/work/nowhere.toml.

> migrate a.md
refused: BASE/work/a.md has no part 'rag'.

> reembed birds
refused: birds has no embedding model. Name one with --embed.

> new Wrong/name
refused: 'Wrong/name' is not a valid name: use letters, digits, '.', '-' and '_'.

> new birds
refused: There is a store birds already.

> drop birds
refused: This deletes the store birds with 2 chunks. Add --yes to do it.

> drop birds --yes
Deleted the store birds with 2 chunks.

> list
No stores yet. Make one: /rag new docs, then /rag ingest docs/

> new vec --embed ollama:m
Created the store vec. Oxbow searches it by words and by the vectors of ollama:m. Next: /rag ingest PATH --in vec, then /rag on vec

> on vec
vec is on in BASE/work: the model gets up to 5 passages with each input, and the tool 'retrieve'. It is empty so far.

> ingest b.md --in vec
vec: 1 document checked, 1 new or changed, 0 removed, 0 left out; 1 chunk in all, 1 embedded now.

> status
vec: 1 document in 1 chunk, SIZE. On in this folder.
Oxbow searches it by words and by the vectors of ollama:m (256 dimensions).
  file BASE/work/b.md: 1 document

> query boats
1. b.md:1-3 (Boats)  cosine 0.80
   # Boats

   The boats are green.

> override vec offline:offline ollama:m
While offline:offline answers, ollama:m embeds the questions to vec.

> reembed vec --embed none
Removed the vectors of vec. Oxbow searches it by words.

> status vec
vec: 1 document in 1 chunk, SIZE. On in this folder.
Oxbow searches it by words.
While offline:offline answers: ollama:m.
  file BASE/work/b.md: 1 document
`;

it("says what it did and found, and what it refuses, word for word", async () => {
  const lines = Array.from({ length: 9 }, (_, at) => `Line ${at + 1} about herons.`).join("\n");
  const binary = Buffer.from([0, 1, 2, 0]);
  const more = Array.from({ length: 12 }, (_, at) => [`more/${at + 10}.bin`, binary] as const);
  await write({ "a.md": `# Herons\n\n${lines}`, "b.md": "# Boats\n\nThe boats are green.", "c.bin": binary });
  await write(Object.fromEntries(more));
  const { rag } = await open();
  const cut = (text: string) =>
    text
      .replaceAll(base, "BASE")
      .replace(/\d{4}-\d\d-\d\d/g, "DAY")
      .replace(/\d+ KB/g, "SIZE");
  expect(await rerun(TRANSCRIPT, { say: rag, cut })).toBe(TRANSCRIPT);
});

it("reports a change when it has been made", async () => {
  await write({});
  const { retrieval } = await open();
  const stores: number[] = [];
  const onChange = async () => void stores.push((await retrieval.list()).length);
  const port = { retrieval, documents: {} as never, clock: nodeClock, onChange };
  await slashLine(...retrievalCommands(async () => port))("rag new birds");
  expect(stores).toEqual([1]);
});
