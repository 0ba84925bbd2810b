import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { isListingCurrent, renderListing, writeListing } from "./generate-chain/generate.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A project with these links, each of which is called by its path. */
function plant(...files: string[]): string {
  const root = mkdtempSync(join(tmpdir(), "oxbow-chain-"));
  folders.push(root);
  for (const file of files) {
    const path = join(root, "src", "chain", file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `export const create = () => ${JSON.stringify(file)};\n`);
  }
  return root;
}

const LONG = `50-${"long-".repeat(6)}names.ts`;

describe("the listing of the chain", () => {
  it("is in the order of names, with every stage and group", () => {
    const root = plant(
      "stages/tool_exec/90-last.ts",
      "stages/tool_exec/10-first.ts",
      "stages/start/20-b.ts",
      "stages/start/20-a.ts",
      "stages/start/20-a.test.ts",
      "request/10-retry.ts",
      "services.ts",
    );
    expect(
      renderListing(root),
    ).toBe(`// Written by tools/generate-chain.mjs from the names of the files beside it. Do not edit.

import { create as request10Retry } from "./request/10-retry.js";
import type { ChainListing } from "./services.js";
import { create as start20A } from "./stages/start/20-a.js";
import { create as start20B } from "./stages/start/20-b.js";
import { create as toolExec10First } from "./stages/tool_exec/10-first.js";
import { create as toolExec90Last } from "./stages/tool_exec/90-last.js";

export const listing: ChainListing = {
  stages: {
    start: [
      { name: "20-a", create: start20A },
      { name: "20-b", create: start20B },
    ],
    assemble: [],
    send: [],
    receive: [],
    tool_exec: [
      { name: "10-first", create: toolExec10First },
      { name: "90-last", create: toolExec90Last },
    ],
    tool_done: [],
    done: [],
    error: [],
  },
  request: [{ name: "10-retry", create: request10Retry }],
  tool: [],
  subscribers: [],
};
`);
  });

  it.each([
    [[]],
    [["tool/10-a.ts"]],
    [[`tool/${LONG}`, `stages/tool_done/${LONG}`, "stages/tool_done/60-x.ts"]],
    [["tool/10-a2.ts", "tool/10-a10.ts", "tool/10-a-b.ts", "tool/10-ab.ts", "tool/09-z.ts", "request/10-a.ts"]],
    [["subscribers/10-a.ts", "stages/error/10-a.ts", "stages/tool_exec/10-a.ts", "stages/tool_done/10-a.ts"]],
  ])("is as the formatter would have it: %j", (files) => {
    const root = plant("services.ts", ...files);
    const text = renderListing(root);
    const biome = join(ROOT, "node_modules", "@biomejs", "biome", "bin", "biome");
    const formatted = execFileSync(
      process.execPath,
      [biome, "check", "--write", "--stdin-file-path=src/chain/listing.ts"],
      { cwd: ROOT, input: text, encoding: "utf8" },
    );
    expect(text).toBe(formatted);
  });

  it.each([
    ["tool/retry.ts", "src/chain/tool/retry.ts: a link is called NN-name.ts"],
    ["tool/1-retry.ts", "src/chain/tool/1-retry.ts: "],
    ["tool/10_retry.ts", "src/chain/tool/10_retry.ts: "],
    ["tool/10-Retry.ts", "src/chain/tool/10-Retry.ts: "],
    ["tool/10-retry.js", "src/chain/tool/10-retry.js: "],
    [`tool/10-${"long-".repeat(8)}name.ts`, "at most 40 characters"],
    ["tool/10-retry/index.ts", "src/chain/tool/10-retry: "],
    ["stages/begin/10-retry.ts", "src/chain/stages/begin: there is no such stage"],
  ])("refuses %s", (file, message) => {
    expect(() => renderListing(plant(file))).toThrow(message);
  });

  it("refuses names that differ in a dash only", () => {
    expect(() => renderListing(plant("tool/10-a-1.ts", "tool/10-a1.ts"))).toThrow("too alike");
  });

  it("is written when it is stale, and only then", () => {
    const root = plant("tool/10-a.ts");
    const path = join(root, "src", "chain", "listing.ts");
    expect(isListingCurrent(root)).toBe(false);
    writeListing(root);
    expect(isListingCurrent(root)).toBe(true);
    const past = new Date(1_000_000);
    utimesSync(path, past, past);
    writeListing(root);
    expect(statSync(path).mtimeMs).toBe(past.getTime());
    writeFileSync(join(root, "src", "chain", "tool", "20-b.ts"), "export const create = () => 0;\n");
    expect(isListingCurrent(root)).toBe(false);
    writeListing(root);
    expect(readFileSync(path, "utf8")).toContain("20-b");
  });

  it("is not asked of a project without a chain", () => {
    const root = plant();
    writeListing(root);
    expect(isListingCurrent(root)).toBe(true);
  });
});
