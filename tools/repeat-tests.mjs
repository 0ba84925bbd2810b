/**
 * Runs tests many times and names those that fail only now and then, for a nightly job:
 *
 *     npm run repeat                                 the tests of sockets, transports and conformance, ten times
 *     npm run repeat -- --runs 50 src/control        others, or more often
 *     npm run repeat -- --window FILE                keeps the last hundred runs in FILE and writes test/quarantine.txt
 *     npm run repeat -- --reports FOLDER             counts JSON reports of Vitest that exist, and runs nothing
 *
 * 1. A test is unsteady if it failed and passed at one commit. One that always fails there is broken, and never in quarantine.
 * 2. The budget is half a percent of the runs in the window: whatever is above it goes into quarantine, and leaves it when its failures
 *    have left the window. `npm test` runs and names a test in quarantine, and does not count its failure (tools/test/test.mjs).
 * 3. Ends with 1 if a test failed in a run of now, whatever the window says.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { QUARANTINE, readQuarantine } from "./test/quarantine.mjs";

const SOCKET_TESTS = [
  "test/service",
  "test/scenarios/conformance",
  "src/control/transports",
  "src/clients/sdk",
  "src/clients/sdk-node",
];
const WINDOW = 100;
const BUDGET = 0.005;

const { values, positionals } = parseArgs({
  options: {
    runs: { type: "string", default: "10" },
    reports: { type: "string" },
    window: { type: "string" },
    commit: { type: "string" },
    quarantine: { type: "string", default: QUARANTINE },
  },
  allowPositionals: true,
});
const runs = Number(values.runs);
if (!Number.isInteger(runs) || runs < 1) {
  console.error("--runs needs a number from 1 on.");
  process.exit(2);
}

const folder = values.reports ?? mkdtempSync(join(tmpdir(), "repeat-tests-"));
if (values.reports === undefined) runTests(positionals.length > 0 ? positionals : SOCKET_TESTS);
const now = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name) => ({ commit: currentCommit(), failed: failedIn(JSON.parse(readFileSync(join(folder, name), "utf8"))) }));
if (values.reports === undefined) rmSync(folder, { recursive: true });
process.exitCode = show(now);
if (values.window !== undefined) keepWindow(values.window, now);

function runTests(paths) {
  for (let run = 1; run <= runs; run++) {
    const report = join(folder, `${run}.json`);
    spawnSync("npx", ["vitest", "run", ...paths, "--reporter=json", `--outputFile=${report}`], { stdio: "ignore" });
    if (!existsSync(report)) {
      console.error(`Run ${run} ended without a report.`);
      process.exit(1);
    }
    console.error(`run ${run} of ${runs}`);
  }
}

function currentCommit() {
  return values.commit ?? execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).trim();
}

/** The names are those of tools/test/reporter.mjs. */
function failedIn({ testResults }) {
  return testResults.flatMap(({ name, status, assertionResults }) => {
    const failed = assertionResults.filter((each) => each.status === "failed");
    const titles = failed.map(({ ancestorTitles = [], title }) => [...ancestorTitles, title].join(" > "));
    // A file that cannot be loaded has no tests.
    if (titles.length === 0 && status === "failed") titles.push("the file itself");
    return titles.map((title) => `${relative(process.cwd(), name)} > ${title}`);
  });
}

function show(all) {
  const failures = countFailures(all);
  for (const [test, count] of failures) {
    console.log(`${count === all.length ? "always fails" : `failed ${count} of ${all.length} times`}: ${test}`);
  }
  console.log(`${all.length} ${all.length === 1 ? "run" : "runs"}, ${failures.size} unsteady or failing tests`);
  return failures.size > 0 || all.length === 0 ? 1 : 0;
}

function countFailures(all) {
  const failures = new Map();
  for (const test of all.flatMap(({ failed }) => failed)) failures.set(test, (failures.get(test) ?? 0) + 1);
  return failures;
}

function keepWindow(file, added) {
  const before = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  const all = [...before, ...added].slice(-WINDOW);
  writeFileSync(file, `${JSON.stringify(all)}\n`);
  const unsteady = new Map();
  for (const commit of new Set(all.map((run) => run.commit))) {
    const runsOfCommit = all.filter((run) => run.commit === commit);
    for (const [test, count] of countFailures(runsOfCommit)) {
      if (count < runsOfCommit.length) unsteady.set(test, (unsteady.get(test) ?? 0) + count);
    }
  }
  const over = [...unsteady].filter(([, count]) => count / all.length > BUDGET).map(([test]) => test);
  const known = readQuarantine(values.quarantine);
  for (const test of over.filter((each) => !known.has(each))) {
    console.log(
      `into quarantine, open an issue (failed ${unsteady.get(test)} of the last ${all.length} times): ${test}`,
    );
  }
  for (const test of [...known].filter((each) => !over.includes(each))) console.log(`out of quarantine: ${test}`);
  writeFileSync(
    values.quarantine,
    over
      .sort()
      .map((test) => `${test}\n`)
      .join(""),
  );
}
