/** `npm run mutate`: changes the meaning of one random line at a time in a copy of the project, and looks whether a test notices. */
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { ToolError } from "../entry.mjs";
import { ROOT } from "../setup/set-up.mjs";
import { applied, describe, mutationsOf } from "./mutations.mjs";
import { Imports } from "./related.mjs";

const AREAS = ["engine", "control", "sessions", "security", "tools", "context"].map((name) => `src/${name}`);
/** So many of the most telling tests run first; then four times as many, and so on, because each start of the runner takes time. */
const FIRST_TESTS = 2;
const MORE = 4;
/** A run that takes longer is looked at for a hang: so many seconds, and so many more for each test file. */
const PATIENCE = { run: 60, test: 4 };

const NO_CODE = "does not compile";

const HELP = `Usage: npm run mutate -- [PATH…] [--seed N] [--count N] [--seconds N] [--minutes N] [--results FILE] [--list]

Applies random mutations, one at a time, in a copy of the project and runs the tests that load the mutated file, nearest first.
Each area gets the same number of mutations; a line is drawn first, then one of its mutations. PATHs are folders or files; without
one: ${AREAS.join(", ")}.

  --seed N        draws the same mutations again (default: a new seed, which the report names)
  --count N       how many mutations that compile to try (default 30)
  --tests N       how many test files at most to run for one mutation (default 42)
  --minutes N     stops after this time, between two mutations
  --results FILE  appends each result, and continues where an earlier run with the same seed and paths stopped
  --list          prints the mutations that would be tried, without the tests

A mutation is found if a test fails or hangs that succeeds without it, and has survived if none does: then a test is missing, or the
mutation changes nothing that matters, which a person must decide. Those that do not compile do not count.`;

export async function main(args, root = ROOT) {
  const { values, positionals } = readArguments(args);
  if (values.help) return console.log(HELP);
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  const files = trackedFiles(root);
  const drawn = draw(root, { files, paths: positionals.length > 0 ? positionals : AREAS, seed });
  const bench = new Bench(root, files);
  try {
    console.log(`seed ${seed}`);
    report(await tryAll(drawn, bench, { ...values, seed }));
  } finally {
    bench.close();
  }
}

function readArguments(args) {
  const numbers = ["seed", "count", "tests", "minutes"];
  const texts = Object.fromEntries([...numbers, "results"].map((name) => [name, { type: "string" }]));
  const options = { ...texts, list: { type: "boolean" }, help: { type: "boolean", short: "h" } };
  try {
    const read = parseArgs({ args, options, allowPositionals: true });
    const wrong = numbers.find((name) => !(Number(read.values[name] ?? 0) >= 0));
    if (wrong !== undefined) throw new Error(`--${wrong} needs a number`);
    return read;
  } catch (error) {
    throw new ToolError(`${error.message}. 'npm run mutate -- --help' shows the usage.`, 2);
  }
}

function trackedFiles(root) {
  const listed = spawnSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: root, encoding: "utf8" });
  if (listed.status !== 0) throw new ToolError("git cannot list the files of the project.");
  return listed.stdout.split("\0").filter((file) => file !== "" && fs.existsSync(join(root, file)));
}

/** Yields mutations, each `{ file, area, source, ...mutation }`: one of each area in turn. */
function* draw(root, { files, paths, seed }) {
  const random = randomNumbers(seed);
  const areas = paths.map((path) => {
    const folder = path.replace(/\/+$/, "");
    const own = files.filter((file) => file === folder || file.startsWith(`${folder}/`)).filter(isMutated);
    if (own.length === 0) throw new ToolError(`There is nothing to mutate in ${path}.`);
    const lines = own.flatMap((file) => linesOf(root, file)).map((line) => ({ ...line, place: random() }));
    return { area: folder, lines: lines.sort((a, b) => a.place - b.place) };
  });
  for (let at = 0; areas.some(({ lines }) => at < lines.length); at++) {
    for (const { area, lines } of areas) {
      if (at >= lines.length) continue;
      const { file, source, mutations } = lines[at];
      yield { area, file, source, ...mutations[Math.floor(random() * mutations.length)] };
    }
  }
}

/** Programs, not tests and what only they use. */
function isMutated(file) {
  return file.endsWith(".ts") && !/\.(test|d|child|testkit)\.ts$|-testbed\.ts$|\/test-support\//.test(file);
}

function linesOf(root, file) {
  const source = fs.readFileSync(join(root, file), "utf8");
  const lines = new Map();
  for (const each of mutationsOf(source)) lines.set(each.line, [...(lines.get(each.line) ?? []), each]);
  return [...lines.values()].map((mutations) => ({ file, source, mutations }));
}

/** mulberry32 */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function tryAll(drawn, bench, { seed, count = 30, tests = 42, minutes = Infinity, results: file, list }) {
  const lines = file !== undefined && fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim().split("\n") : [];
  const earlier = lines.map((line) => JSON.parse(line)).filter((each) => each.seed === seed);
  const end = Date.now() + Number(minutes) * 60_000;
  const results = [];
  for (const mutation of drawn) {
    if (results.filter(({ outcome }) => outcome !== NO_CODE).length >= Number(count) || Date.now() >= end) break;
    const { area, kind } = mutation;
    const place = `${mutation.file}:${mutation.line}`;
    let result = earlier.find((each) => each.place === place);
    if (result === undefined) {
      const { outcome, by } = await bench.try(mutation, { most: Number(tests), list });
      result = { seed, area, place, kind, change: describe(mutation.source, mutation), outcome, by };
      if (file !== undefined && !list) fs.appendFileSync(file, `${JSON.stringify(result)}\n`);
    }
    results.push(result);
    const { outcome, change, by } = result;
    console.log(`${outcome.padEnd(16)} ${place}  ${kind}: ${change}${by === undefined ? "" : `  [${by}]`}`);
  }
  return results;
}

function report(results) {
  const of = (list, outcome) => list.filter((each) => each.outcome === outcome).length;
  const rate = (list) => {
    const [found, survived] = [of(list, "found"), of(list, "survived")];
    const share = found + survived === 0 ? "" : ` (${Math.round((100 * found) / (found + survived))} %)`;
    return `${found} of ${found + survived} found${share}`;
  };
  for (const area of new Set(results.map((each) => each.area))) {
    console.log(`${area}: ${rate(results.filter((each) => each.area === area))}`);
  }
  console.log(`all: ${rate(results)}, ${of(results, NO_CODE)} did not compile`);
}

/** A copy of the project in which mutations are tried. */
class Bench {
  #root;
  #files;
  #folder;
  #imports;
  /** Says whether a test file succeeds without a mutation. */
  #sound = new Map();

  constructor(root, files) {
    this.#root = root;
    this.#files = files;
  }

  async try(mutation, { most, list }) {
    this.#folder ??= this.#copy();
    const path = join(this.#folder, mutation.file);
    fs.writeFileSync(path, applied(mutation.source, mutation));
    try {
      if (!this.#compiles(mutation.file)) return { outcome: NO_CODE };
      return list ? { outcome: "drawn" } : await this.#test(mutation, most);
    } finally {
      fs.writeFileSync(path, mutation.source);
    }
  }

  close() {
    if (this.#folder !== undefined) fs.rmSync(dirname(this.#folder), { recursive: true, force: true });
  }

  #copy() {
    // Tests take a temporary folder inside the project for a part of it. What killed tests leave goes with the copy.
    const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "ox-")));
    const folder = join(base, "project");
    fs.mkdirSync(join(base, "t"));
    const copied = [...this.#files, "dist"].filter((file) => fs.existsSync(join(this.#root, file)));
    for (const file of copied) fs.cpSync(join(this.#root, file), join(folder, file), { recursive: true });
    fs.symlinkSync(join(this.#root, "node_modules"), join(folder, "node_modules"));
    this.#imports = new Imports(folder, this.#files);
    return folder;
  }

  /** Checks the file alone: what other files make of its types hardly ever changes. */
  #compiles(file) {
    const files = [file, ...this.#files.filter((each) => /^src\/[^/]+\.d\.ts$/.test(each))];
    const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false };
    const config = { extends: "./tsconfig.json", compilerOptions, include: [], files };
    fs.writeFileSync(join(this.#folder, "tsconfig.mutate.json"), JSON.stringify(config));
    const compiler = join(this.#folder, "node_modules", ".bin", "tsc");
    const { error, status } = spawnSync(compiler, ["--noEmit", "-p", "tsconfig.mutate.json"], { cwd: this.#folder });
    // Otherwise no mutation would compile.
    if (error !== undefined) throw new ToolError(`The compiler does not start: ${error.message}`);
    return status === 0;
  }

  async #test(mutation, most) {
    const path = join(this.#folder, mutation.file);
    const sound = this.#imports.testsOf(mutation.file).filter((test) => this.#sound.get(test) !== false);
    const left = sound.slice(0, most);
    for (let size = FIRST_TESTS; left.length > 0; size *= MORE) {
      const tests = left.splice(0, size);
      const ms = (PATIENCE.run + PATIENCE.test * tests.length) * 1000;
      const run = await this.#run(tests, ms);
      if (run.ok) continue;
      fs.writeFileSync(path, mutation.source);
      // A run that ends late has found a hang only if it is quick without the mutation: the machine may be busy.
      if (run.isLate && (await this.#run(tests, ms / 2)).ok) return { outcome: "found", by: "time" };
      if (run.isLate) break;
      const blamed = await this.#soundOf(run.failed);
      if (blamed !== undefined) return { outcome: "found", by: blamed };
      // A test that always fails here hides the others of its run.
      fs.writeFileSync(path, applied(mutation.source, mutation));
      left.unshift(...tests.filter((test) => this.#sound.get(test) !== false));
    }
    return { outcome: "survived" };
  }

  /** Returns the first of these tests that succeeds without a mutation. */
  async #soundOf(tests) {
    for (const test of tests) {
      if (!this.#sound.has(test)) this.#sound.set(test, (await this.#run([test], 120_000)).ok);
      if (this.#sound.get(test)) return test;
    }
    return undefined;
  }

  async #run(tests, ms) {
    const out = join(this.#folder, "mutate-report.json");
    fs.rmSync(out, { force: true });
    // Only the mutated file is transformed anew.
    const cache = [
      "--experimental.fsModuleCache",
      `--experimental.fsModuleCachePath=${join(this.#folder, "../cache")}`,
    ];
    const report = ["--reporter=json", `--outputFile=${out}`];
    const options = ["--bail=1", "--maxWorkers=2", "--testTimeout=20000", ...report, ...cache];
    const args = ["node_modules/vitest/vitest.mjs", "run", ...options, ...tests];
    const env = { ...process.env, OXBOW_TEST_ALL: "1", TMPDIR: join(this.#folder, "../t") };
    const child = spawn(process.execPath, args, { cwd: this.#folder, env, stdio: "ignore", detached: true });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      process.kill(-child.pid, "SIGKILL");
    }, ms);
    const code = await new Promise((resolve) => child.once("exit", resolve));
    clearTimeout(timer);
    if (code === 0 || isLate) return { ok: code === 0, isLate, failed: [] };
    const results = fs.existsSync(out) ? JSON.parse(fs.readFileSync(out, "utf8")).testResults : [];
    const names = results.filter(({ status }) => status === "failed").map(({ name }) => name);
    const failed = names.map((name) => name.slice(this.#folder.length + 1));
    // Without a name it was an error beside the tests.
    return { ok: false, isLate, failed: failed.length > 0 ? failed : tests };
  }
}
