/** The bar: 200 tool calls at once, cancelled at random moments, leave no process and no half of a file behind. */

import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { JsonObject } from "../../src/protocol/json.js";
import { openToolbox, type Toolbox } from "../../src/runtime/parts/toolbox.js";
import { skipWithout } from "../support/needs.js";
import { survivors } from "../support/survivors.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const CALLS = times(40, 200);
/** A duration that no other process sleeps, so that a survivor is found by its command line. */
const MARK = `86397.${process.pid}`;
const FILES = 6;
const LINES = 3000;

interface Call {
  readonly tool: string;
  readonly args: JsonObject;
  /** Says how it ends without a cancel. */
  readonly ends: readonly string[];
}

let base: string;
let root: string;
let toolbox: Toolbox;

beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "oxbow-concurrent-")));
  root = join(base, "ws");
  for (let file = 0; file < FILES; file++) {
    await put(`written/${file}.txt`, written(file, "first"));
    await put(`edited/${file}.txt`, edited(0));
  }
  const git = (...args: string[]) => execFileSync("git", ["-C", root, ...args], { stdio: "ignore" });
  git("init");
  git("add", ".");
  git("-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "--message", "first");
  toolbox = openToolbox({
    root,
    offers: (_, set) => ["read", "edit", "command"].includes(set),
    variables: { PATH: process.env.PATH, HOME: join(base, "home") },
    outputDirectory: join(base, "outputs"),
  });
  // What a session has not read it may not overwrite.
  for (let file = 0; file < FILES; file++)
    await call({ tool: "read", args: { path: `written/${file}.txt` }, ends: [] });
});

afterAll(async () => {
  await toolbox.close();
  await rm(base, { recursive: true, force: true });
});

async function put(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
}

/** Long enough to be written in more than one piece. */
function written(file: number, version: string): string {
  return `file ${file}, ${version} version of this line\n`.repeat(LINES);
}

function edited(times: number): string {
  return `count:${"|".repeat(times)}\n${"an ordinary line\n".repeat(LINES)}`;
}

async function call({ tool, args }: Call, signal = new AbortController().signal): Promise<string> {
  const found = toolbox.find(tool);
  if (found === undefined) throw new Error(`there is no tool ${tool}`);
  return (await found.run(args, { signal, progress: () => {} })).status;
}

/** One of each kind in turn; the number makes it one of its own. */
function callNumber(number: number): Call {
  const file = number % FILES;
  const bash = (command: string, more: JsonObject = {}) => ({ tool: "bash", args: { command, ...more } });
  const kinds: readonly Call[] = [
    { ...bash(`sleep ${MARK} & echo started; sleep ${MARK}`, { timeout: 1 }), ends: ["timeout"] },
    { ...bash(`setsid sleep ${MARK} & (setsid setsid sleep ${MARK} &) & echo done`), ends: ["ok"] },
    { ...bash(`setsid sh -c '(sleep ${MARK} &) ; sleep ${MARK}' & wait`, { timeout: 1 }), ends: ["timeout"] },
    { ...bash(`echo service; sleep ${MARK}`, { run_in_background: true }), ends: ["ok", "error"] },
    { ...bash("seq 1 20000"), ends: ["ok"] },
    { tool: "write", args: { path: `written/${file}.txt`, content: written(file, `${number}th`) }, ends: ["ok"] },
    { tool: "write", args: { path: `made/${number}.txt`, content: written(file, "only") }, ends: ["ok"] },
    { tool: "edit", args: { path: `edited/${file}.txt`, edits: [{ old: "count:", new: "count:|" }] }, ends: ["ok"] },
    { tool: "apply_patch", args: { patch: pairPatch(number) }, ends: ["ok"] },
    { tool: "grep", args: { pattern: "version|ordinary", context: 2 }, ends: ["ok"] },
    { tool: "grep", args: { pattern: "line", path: `written/${file}.txt`, mode: "count" }, ends: ["ok"] },
    { tool: "glob", args: { pattern: "**/*.txt" }, ends: ["ok"] },
    { tool: "read", args: { path: `edited/${file}.txt` }, ends: ["ok"] },
    { ...bash("git status"), ends: ["ok"] },
    { ...bash("git diff"), ends: ["ok"] },
    { tool: "ls", args: { depth: 3 }, ends: ["ok"] },
  ];
  return kinds[number % kinds.length] as Call;
}

function pairPatch(number: number): string {
  const add = (name: string) => `*** Add File: pairs/${number}-${name}.txt\n${"+a line of a pair\n".repeat(50)}`;
  return `*** Begin Patch\n${add("a")}${add("b")}*** End Patch`;
}

/** A small generator with a fixed seed: random moments that are the same in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

interface Ending extends Call {
  readonly number: number;
  readonly isCancelled: boolean;
  readonly status: string;
}

function runAll(seed: number): Promise<readonly Ending[]> {
  const next = random(seed);
  return Promise.all(
    Array.from({ length: CALLS }, async (_, number) => {
      const chosen = callNumber(number);
      const controller = new AbortController();
      const isCancelled = next() < 0.5;
      const afterMs = next() < 0.2 ? 0 : next() * 1500;
      const timer = isCancelled ? setTimeout(() => controller.abort(), afterMs) : undefined;
      const status = await call(chosen, controller.signal);
      clearTimeout(timer);
      return { ...chosen, number, isCancelled, status };
    }),
  );
}

const text = (path: string) => readFile(join(root, path), "utf8");

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

/** Every file is one whole version, and there are no others. */
async function expectWholeFiles(endings: readonly Ending[]): Promise<void> {
  const done = endings.filter(({ status }) => status === "ok");
  const expected: string[] = [];
  for (let file = 0; file < FILES; file++) {
    const versions = endings.flatMap(({ args }) => (args.path === `written/${file}.txt` ? [args.content] : []));
    expect([written(file, "first"), ...versions]).toContain(await text(`written/${file}.txt`));
    const edits = done.filter(({ tool, args }) => tool === "edit" && args.path === `edited/${file}.txt`);
    expect(await text(`edited/${file}.txt`)).toBe(edited(edits.length));
    expected.push(`written/${file}.txt`, `edited/${file}.txt`);
  }
  for (const { tool, args, number } of done) {
    const path = String(args.path);
    if (tool === "write" && path.startsWith("made/")) {
      expect(await text(path)).toBe(args.content);
      expected.push(path);
    }
    if (tool !== "apply_patch") continue;
    for (const name of ["a", "b"]) {
      expect(await text(`pairs/${number}-${name}.txt`)).toBe("a line of a pair\n".repeat(50));
      expected.push(`pairs/${number}-${name}.txt`);
    }
  }
  const found = await filesBelow(root);
  expect(found.filter((path) => !path.startsWith(".git/")).sort()).toEqual(expected.sort());
  expect(found.filter((path) => path.endsWith(".lock"))).toEqual([]);
  for (const name of await readdir(join(base, "outputs"))) expect(name).toMatch(/^command-.*\.log$/);
}

describe("many tools at once", () => {
  verifies(
    ["T5", "T6", "L9"],
    `${CALLS} calls with random cancellations: no orphan process, no partial file, every call ends`,
    async (context) => {
      skipWithout(context, "setsid");
      const endings = await runAll(7);
      for (const { tool, args, ends, isCancelled, status } of endings) {
        const allowed = isCancelled ? [...ends, "cancelled"] : ends;
        expect(allowed, `${tool} ${JSON.stringify(args).slice(0, 100)}`).toContain(status);
      }
      expect(endings.filter(({ status }) => status === "cancelled").length).toBeGreaterThan(CALLS / 20);
      // Those in the background live as long as the session; they also show that a survivor would be found.
      expect(survivors(MARK).length).toBeGreaterThan(0);
      await toolbox.close();
      expect(survivors(MARK)).toEqual([]);
      await expectWholeFiles(endings);
    },
    60_000,
  );
});
