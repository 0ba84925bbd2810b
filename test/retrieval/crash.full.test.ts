/**
 * Shows what a process leaves that dies at any statement. A copy of the files at that moment is what kill -9 leaves; a process that is really killed is in
 * retrieval.test.ts and, with OXBOW_TEST_THOROUGH=1, here.
 */
import { cpSync } from "node:fs";
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished } from "vitest";
import { shellPlace } from "../../src/cli/subject-command.js";
import { type Said, slashLine } from "../../src/commands/test-support/slash-line.js";
import { retrievalCommands } from "../../src/context/retrieval/commands.js";
import { retrievalFolder } from "../../src/context/retrieval/stores.js";
import { parseFlags } from "../../src/feature/flags.js";
import { openRetrieval } from "../../src/runtime/retrieval.js";
import { atStatements } from "../../src/system/sqlite/test-support/at-statements.js";
import { type MockEmbeddings, startMockEmbeddings } from "../../src/testkit/mock-embeddings.js";
import { buildChildPrograms } from "../support/child-programs.js";
import { isThorough, times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

let base: string;
let folder: string;
let server: MockEmbeddings;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "oxbow-rag-crash-")));
  folder = join(base, "work");
  await mkdir(folder);
  server = await startMockEmbeddings({ dimensions: 64 });
});
afterEach(async () => {
  await server.close();
  await rm(base, { recursive: true });
});

const MINUTES = isThorough ? 300_000 : undefined;
/** More than one transaction of documents, and several of vectors. */
const DOCUMENTS = 66;
const textOf = (i: number) =>
  `# Note ${i}\n\nThe number is ${i * 37}.\n\n## Shared\n\n${"The same words in every note. ".repeat(50)}\n\n## End ${i}\n\nAll.`;

async function writeNotes(): Promise<void> {
  for (let i = 0; i < DOCUMENTS; i++) await writeFile(join(folder, `d${i}.md`), textOf(i));
}

type Rag = (line: string) => Promise<Said>;

/** Locks of a process that has died count for nothing; this one still lives. */
function copy(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith(".lock") });
}

function valueIn<T>(said: Said): T {
  if (!said.ok) throw new Error(said.text);
  return said.value as T;
}

/** Works with the stores of one home, then closes them as a process does that ends. */
async function using<T>(home: string, work: (rag: Rag) => Promise<T>): Promise<T> {
  await mkdir(join(home, "config"), { recursive: true });
  const { port, close } = await openRetrieval(
    shellPlace(
      parseFlags([{ name: "cwd", value: "DIR", help: "" }], ["--cwd", folder], ""),
      {
        OXBOW_HOME: home,
        OLLAMA_HOST: server.url,
      },
      () => {},
    ),
  );
  try {
    const say = slashLine(...retrievalCommands(async () => port));
    return await work((line) => say(`rag ${line}`));
  } finally {
    await close();
  }
}

const EARLY = new Set(isThorough ? Array.from({ length: 30 }, (_, i) => i + 1) : [8, 16]);

/** Tells what every statement of `work` would have left, at `count` moments spread over it. */
async function deaths(home: string, count: number, work: (rag: Rag) => Promise<unknown>): Promise<readonly string[]> {
  const saved = join(base, "before");
  copy(home, saved);
  const total = await atStatements(
    () => using(home, work),
    () => {},
  );
  await rm(home, { recursive: true });
  copy(saved, home);
  const every = Math.max(1, Math.floor(total / count));
  const images: string[] = [];
  await atStatements(
    () => using(home, work),
    (at) => {
      // The first statements change the model, and are few.
      if (at % every !== 0 && !EARLY.has(at)) return;
      const image = join(base, `image-${at}`);
      copy(home, image);
      images.push(image);
    },
  );
  await rm(saved, { recursive: true });
  return images;
}

const WHOLE = { documents: DOCUMENTS, chunks: 3 * DOCUMENTS, embedded: 3 * DOCUMENTS, missing: 0 };

async function expectWhole(rag: Rag, model = "ollama:m"): Promise<void> {
  const status = await rag("status notes");
  expect(status).toMatchObject({ value: { ...WHOLE, binding: { model }, embedding_model: model } });
  expect(status.text).not.toContain("nfinished");
  expect(await rag("query 1517 --by words --top 1")).toMatchObject({
    value: { found: [{ text: expect.stringContaining("1517") }] },
  });
}

describe("a retrieval store whose process dies at any moment", () => {
  verifies(
    ["X6"],
    "continues an ingest where it was, without a document lost or a chunk twice",
    async () => {
      await writeNotes();
      const home = join(base, "home");
      await using(home, (rag) => rag("new notes --embed ollama:m"));
      const images = await deaths(home, times(4, 150), (rag) => rag("ingest . --in notes"));
      expect(images.length).toBeGreaterThanOrEqual(4);
      let storedAgain = 0;
      for (const image of images) {
        await using(image, async (rag) => {
          const { documents } = valueIn<{ documents: number }>(await rag("status notes"));
          const said = await rag("ingest . --in notes");
          expect(said, image).toMatchObject({ value: { stored: DOCUMENTS - documents } });
          storedAgain += documents;
          await expectWhole(rag);
        });
      }
      // Some of them were in the middle.
      expect(storedAgain).toBeGreaterThan(0);
    },
    MINUTES,
  );

  verifies(
    ["X6"],
    "has either model after a reembed that died, and continues with it",
    async () => {
      await writeNotes();
      const home = join(base, "home");
      await using(home, async (rag) => {
        await rag("new notes --embed ollama:m");
        await rag("ingest . --in notes");
      });
      const models = new Set<string>();
      for (const image of await deaths(home, times(2, 60), (rag) => rag("reembed notes --embed ollama:other"))) {
        await using(image, async (rag) => {
          const { binding } = valueIn<{ binding: { model: string } }>(await rag("status notes"));
          models.add(binding.model);
          expect(await rag("ingest --in notes"), image).toMatchObject({ value: { stored: 0 } });
          await expectWhole(rag, binding.model);
          expect(valueIn(await rag("list"))).toMatchObject({ stores: [{ embedding_model: binding.model }] });
        });
      }
      expect(models).toEqual(new Set(["ollama:m", "ollama:other"]));
    },
    MINUTES,
  );

  verifies(["X6"], "has a source whole or not at all after a drop, and can drop a store again", async () => {
    await writeNotes();
    const home = join(base, "home");
    await using(home, async (rag) => {
      await rag("new notes --embed ollama:m");
      await rag("ingest . --in notes");
    });
    for (const image of await deaths(home, times(1, 20), (rag) => rag("drop notes . --yes"))) {
      await using(image, async (rag) => {
        const { documents } = valueIn<{ documents: number }>(await rag("status notes"));
        expect([0, DOCUMENTS]).toContain(documents);
        await rag("ingest . --in notes");
        await expectWhole(rag);
      });
    }
    // The files are gone, the registry still names the store.
    const image = join(base, "dropped");
    copy(home, image);
    const stores = retrievalFolder({ data: join(image, "data") });
    for (const name of await readdir(stores)) if (/\.db/.test(name)) await rm(join(stores, name));
    await using(image, async (rag) => {
      expect(await rag("status notes")).toMatchObject({ value: { documents: 0, binding: { model: "ollama:m" } } });
      await rag("drop notes --yes");
      expect(valueIn(await rag("list"))).toMatchObject({ stores: [] });
    });
    expect((await readdir(stores)).filter((name) => name.includes(".db"))).toEqual([]);
  });

  if (isThorough)
    verifies(
      ["X6"],
      "survives kill -9 at random times",
      async () => {
        const children = await buildChildPrograms(import.meta.url, "ingest");
        onTestFinished(() => children.discard());
        await writeNotes();
        const home = join(base, "home");
        await using(home, (rag) => rag("new notes --embed ollama:m"));
        for (let i = 0; i < 40; i++) {
          const line = i % 4 === 3 ? "rag reembed notes --embed ollama:m" : "rag ingest . --in notes";
          const child = children.start("ingest", home, folder, server.url, line);
          const timer = setTimeout(() => child.process.kill("SIGKILL"), 150 + Math.random() * 600);
          await child.end;
          clearTimeout(timer);
          await writeFile(join(folder, `d${i}.md`), `${textOf(i)} `);
        }
        await using(home, async (rag) => {
          await rag("ingest . --in notes");
          await expectWhole(rag);
        });
      },
      MINUTES,
    );
});
