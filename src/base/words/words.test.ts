import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Database } from "../../system/sqlite/database.js";
import { indexWords, questionWords } from "./index-words.js";
import { porterStem } from "./porter-stem.js";

const SAMPLE = `generalizations oscillators relational conditional rationally valency hesitancy digitizer conformability radically
differently vileness analogously vietnamization predication operator feudalism decisiveness hopefulness callousness formality
sensitivity sensibility triplicate formative formalize electricity electrical hopeful goodness revival allowance inference airliner
gyroscopic adjustable defensible irritant replacement adjustment dependent adoption homologous communism activate angularity effective
bowdlerize probate rate cease controlling rolling caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated
troubled sized hopping tanned falling hissing fizzed failing filing happy apologies running flies died agree archaeology sensible
connection connected connecting configuration retries retry caching caches databases indices analyses easily news`;

describe("words of the index", () => {
  it("have the stems that SQLite's porter tokenizer gives them", async () => {
    const folder = await mkdtemp(join(tmpdir(), "oxbow-words-"));
    const database = await Database.open({ path: join(folder, "w.db"), key: new Uint8Array(32).fill(1) });
    try {
      database.script(`CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter ascii');
        CREATE VIRTUAL TABLE v USING fts5vocab(t, instance);`);
      const words = SAMPLE.split(/\s+/);
      for (const [i, word] of words.entries()) database.run("INSERT INTO t (rowid, x) VALUES (?, ?)", [i + 1, word]);
      const theirs = database.select({ term: "text", doc: "integer" }, "FROM v ORDER BY doc");
      expect(theirs.map(({ term, doc }) => [words[doc - 1], term])).toEqual(
        words.map((word) => [word, porterStem(word)]),
      );
    } finally {
      database.close();
      await rm(folder, { recursive: true });
    }
  });

  it.each([
    ["deploy", "deploys deployed deploying deployment deployments"],
    ["fly", "flies"],
    ["cry", "cries crying"],
    ["display", "displays displayed"],
  ])("of %j are those of %j", (word, others) => {
    expect(new Set(indexWords(others))).toEqual(new Set(indexWords(word)));
  });

  it.each([
    ["Retries, retrying", ["retri", "retri"]],
    ["getUserName", ["getusernam", "get", "user", "name"]],
    ["HTTPServer2", ["httpserver2", "http", "server"]],
    ["max_output_tokens", ["maxoutputtoken", "max", "output", "token"]],
    ["déjà-vu Straße", ["dejavu", "deja", "vu", "straße"]],
    ["東京都 で API", ["東京", "京都", "て", "api"]],
    ["don't `rm -rf`", ["dont", "don", "rm", "rf"]],
    ['" OR * ( NEAR', ["or", "near"]],
  ])("of %j are %j", (text, words) => {
    expect(indexWords(text)).toEqual(words);
  });

  it("of a question leave out what says nothing, unless nothing else is there", () => {
    expect(questionWords("How do I configure the retries of the client?")).toEqual(["configur", "retri", "client"]);
    expect(questionWords("who are you")).toEqual(["who", "ar", "you"]);
    expect(questionWords("???")).toEqual([]);
  });
});
