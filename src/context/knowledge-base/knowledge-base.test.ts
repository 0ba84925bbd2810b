import { cpSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import { Database } from "../../system/sqlite/database.js";
import { atStatements } from "../../system/sqlite/test-support/at-statements.js";
import { cleaned, type Dump, KINDS, oneLine, STATUSES } from "./dump.js";
import { worthRecording } from "./extract.js";
import { fromJsonLines, toJsonLines } from "./json-lines.js";
import { KnowledgeBase } from "./knowledge-base.js";
import { fromMarkdown, toMarkdown } from "./markdown.js";

const KEY = new Uint8Array(32).fill(3);
let folder: string;
let base: KnowledgeBase;
let made = 0;
const open = (name = "k.db") =>
  KnowledgeBase.open({ path: join(folder, name), key: KEY, wall: () => 1_700_000_000_000 + made++ * 1000 });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-knowledge-"));
  base = await open();
});
afterEach(async () => {
  base.close();
  await rm(folder, { recursive: true });
});

describe("the knowledge base", () => {
  verifies(["X5"], "keeps projects, observations of five kinds, concepts and links, and finds them again", async () => {
    const boat = base.addProject("Boat", "the big one");
    base.use("/srv/boat", boat.id);
    expect(base.current("/srv/boat/deck")?.name).toBe("Boat");
    expect(base.current("/srv/boats")).toBeUndefined();
    const origin = { session: "sess_1", event: 42 };
    const [leak = 0, pump = 0] = KINDS.map((kind, i) =>
      base.observe({ project: boat.id, kind, text: `The hull leaks at seam ${i}, ${kind}`, origin }),
    );
    base.linkConcept(leak, "Hull");
    base.linkConcept(leak, "hull");
    base.linkProject(boat.id, "Water");
    base.addConcept("water", "it is wet");
    base.linkObservations(leak, pump, "explains");
    expect(base.observation(leak)).toMatchObject({ kind: "note", session: "sess_1", event: 42, concepts: "Hull" });
    expect(base.counts(boat.id)).toEqual(Object.fromEntries(KINDS.map((kind) => [kind, 1])));
    expect(base.concepts()).toEqual([
      { name: "Hull", description: "", uses: 1 },
      { name: "Water", description: "it is wet", uses: 1 },
    ]);
    expect(base.linksOf(pump)).toEqual([{ from: leak, to: pump, relation: "explains" }]);
    expect(base.search("leaking seams of the hull, a decision", { most: 1 })[0]?.kind).toBe("decision");
    expect(base.project("boat")).toMatchObject({ status: "active", concepts: "Water" });
    base.setStatus(boat.id, "concluded");
    expect(base.project("#1")?.status).toBe("concluded");
    expect(base.forget(leak)).toBe(true);
    expect(base.search("note", { most: 5 })).toEqual([]);
    expect(base.linksOf(pump)).toEqual([]);
    base.close();
    expect((await readFile(join(folder, "k.db"))).includes("hull")).toBe(false);
    base = await open();
  });

  verifies(["X5"], "comes back from Markdown and from JSON lines as it was", async () => {
    const names = fc.uniqueArray(
      fc
        .string({ unit: "grapheme", minLength: 1, maxLength: 30 })
        .map((text) => oneLine(text))
        .filter((text) => text !== ""),
      {
        maxLength: 4,
        minLength: 1,
        selector: (name) => name.toLowerCase(),
      },
    );
    const texts = fc
      .oneof(
        fc.string({ unit: "grapheme", maxLength: 200 }),
        fc.constantFrom("# heading\n\n> quoted\n- time: x\n```", "## Project x\n\n\n end", "- concept: a\n  indented"),
      )
      .map((text) => cleaned(text))
      .filter((text) => text !== "");
    const times = fc.integer({ min: 0, max: 4_000_000_000 }).map((second) => new Date(second * 1000).toISOString());
    const dumps = fc.record({
      projects: names,
      concepts: names,
      entries: fc.array(fc.tuple(texts, fc.constantFrom(...KINDS), times, fc.nat(), fc.option(fc.nat())), {
        maxLength: 6,
      }),
      status: fc.constantFrom(...STATUSES),
    });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(dumps, async ({ projects, concepts, entries, status }) => {
        const pick = <T>(list: readonly T[], n: number) => list[n % list.length] as T;
        const dump: Dump = {
          projects: projects.map((name, i) => ({
            name,
            description: oneLine(entries[i]?.[0] ?? ""),
            status,
            created_at: new Date(i * 1000).toISOString(),
            concepts: [],
          })),
          concepts: concepts.map((name) => ({ name, description: "" })),
          observations: entries.map(([text, kind, created_at, n, event], i) => ({
            id: i + 1,
            project: pick(projects, n),
            kind,
            text,
            created_at,
            ...(event !== null && { session: `sess_${event}`, event }),
            concepts: n % 3 === 0 ? [pick(concepts, n)] : [],
          })),
          links: entries.length < 2 ? [] : [{ from: 1, to: entries.length, relation: "supports" }],
        };
        expect(fromMarkdown(toMarkdown(dump))).toEqual(dump);
        expect(fromJsonLines(toJsonLines(dump))).toEqual(dump);
        if (round++ % 30 !== 0) return;
        const [one, other] = [await open(`${round}a.db`), await open(`${round}b.db`)];
        one.import(dump);
        const stored = one.dump();
        other.import(fromMarkdown(toMarkdown(stored)));
        expect(other.dump()).toEqual(stored);
        expect(one.import(fromJsonLines(toJsonLines(stored)))).toEqual({ projects: 0, observations: 0 });
        expect(one.dump()).toEqual(stored);
        one.close();
        other.close();
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ['{"type":"observation"}', "line 1: the observation has no text"],
    ['{"type":"project","name":" ","created_at":"2026-01-01"}', "line 1: a name is missing"],
    ["\nnonsense", "line 2: expected a JSON object"],
    ['{"type":"secret"}', 'line 1: there is no type "secret"'],
  ])("refuses %j", (text, message) => {
    expect(() => fromJsonLines(text)).toThrow(message);
  });
});

describe("a name", () => {
  it("is one line of 200 characters", () => {
    expect(oneLine(` a\r\n b\t c ${"x".repeat(300)}`)).toBe(`a b c ${"x".repeat(194)}`);
  });
});

describe("what is worth recording", () => {
  it.each([
    [
      "**Decision:** use libsql for all stores, because it encrypts.",
      [{ kind: "decision", text: "use libsql for all stores, because it encrypts." }],
    ],
    [
      "I looked. The root cause is a missing await in the loop. Fixed.",
      [{ kind: "finding", text: "The root cause is a missing await in the loop." }],
    ],
    [
      "Entscheidung: wir nehmen libsql für alle Speicher.",
      [{ kind: "decision", text: "wir nehmen libsql für alle Speicher." }],
    ],
    ["**原因：** 循环里缺少一个 await。", [{ kind: "finding", text: "循环里缺少一个 await。" }]],
    ["Hypothèse : le cache garde une vieille clé.", [{ kind: "hypothesis", text: "le cache garde une vieille clé." }]],
    [
      "- Open question: does the parser accept tabs in keys?",
      [{ kind: "question", text: "does the parser accept tabs in keys?" }],
    ],
    ["> Decision: quoted from someone else, so not ours.\n```\nDecision: in a block of code, too\n```\nDone.", []],
    ["Done. I changed three files and all tests pass.", []],
    ["First we'll use grep to find the callers, and then we should keep the old name.", []],
    ["Let's keep going with the next file. I assume you mean the second one.", []],
    ["I suspect you want the other branch. Let's use `sed` for that now.", []],
    [
      "We've decided to drop Node 18. Let's go with the second design.",
      [
        { kind: "decision", text: "We've decided to drop Node 18." },
        { kind: "decision", text: "Let's go with the second design." },
      ],
    ],
  ])("of %j is %j", (answer, found) => {
    expect(worthRecording(answer)).toEqual(found);
  });

  it("has three candidates at most, each once, of a length that a person reads, from the beginning of an answer", () => {
    const texts = (answer: string, most?: number) => worthRecording(answer, most).map(({ text }) => text);
    const said = (name: string, length: number) => `${name} ${"x".repeat(length - name.length - 1)}`;
    const four = ["one", "two", "three", "four"].map((name) => said(name, 30));
    const answer = [...four, four[0]].map((text) => `Decision: ${text}`).join("\n");
    expect(texts(answer)).toEqual(four.slice(0, 3));
    expect(texts(answer, 9)).toEqual(four);
    for (const [length, fits] of [
      [19, false],
      [20, true],
      [400, true],
      [401, false],
    ] as const)
      expect([length, texts(`Decision: ${said("one", length)}`).length === 1]).toEqual([length, fits]);
    const late = `Decision: ${said("late", 30)}`;
    const filler = (length: number) => `${"y".repeat(length - 1)}\n`;
    expect(texts(filler(50_000 - late.length) + late)).toHaveLength(1);
    expect(texts(filler(50_000) + late)).toEqual([]);
  });
});

describe("a knowledge base", () => {
  verifies(["X5"], "has an import whole or not at all, wherever the process dies", async () => {
    const boat = base.addProject("Boat");
    const [one, two] = [1, 2].map((i) =>
      base.observe({ project: boat.id, kind: "finding", text: `The seam ${i} leaks.` }),
    ) as [number, number];
    base.linkConcept(one, "Hull");
    base.linkObservations(one, two, "explains");
    const dump = base.dump();
    const images: string[] = [];
    const into = await open("into.db");
    await atStatements(
      async () => into.import(dump),
      (at) => {
        if (at % times(3, 1) !== 0) return;
        const image = `image-${at}.db`;
        for (const end of ["", "-wal"]) cpSync(join(folder, `into.db${end}`), join(folder, `${image}${end}`));
        images.push(image);
      },
    );
    into.close();
    for (const image of images) {
      const left = await open(image);
      expect(left.dump().observations).toEqual([]);
      expect(left.import(dump)).toEqual({ projects: 1, observations: 2 });
      expect(left.import(dump)).toEqual({ projects: 0, observations: 0 });
      expect([left.dump().observations.length, left.dump().links.length]).toEqual([2, 1]);
      left.close();
    }
    expect(images.length).toBeGreaterThan(2);
  });

  it("makes its index again when words are found by another rule", async () => {
    const boat = base.addProject("Boat");
    base.observe({ project: boat.id, kind: "note", text: "The deployment is on Tuesday." });
    base.close();
    const database = await Database.open({ path: join(folder, "k.db"), key: KEY });
    database.script("INSERT INTO observation_words (observation_words) VALUES ('delete-all'); PRAGMA user_version = 1");
    database.close();
    base = await open();
    expect(base.search("deploy", { most: 3 })).toHaveLength(1);
  });
});
