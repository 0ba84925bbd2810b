/**
 * `npm test`: sets up, runs the quick checks and vitest, and ends with one line `N passed, N failed, N skipped`.
 *
 * 1. A plain run leaves out `*.full.test.ts`: what takes long or repeats a way that another test goes. `--all` (`npm run test:all`)
 *    runs them, and checks types, lint and format too.
 * 2. With other arguments (`npm test -- src/engine`) they go to vitest, which then knows every file; the checks are left out.
 * 3. Every check counts as a test; so does a build that fails, and a vitest that ends without a report.
 * 4. Every skipped test is named below its reason (`test/support/needs.ts`). One without a reason is a failed one; only with arguments,
 *    which may choose tests by name, it is not. `--no-skips` (`.ci/run`) allows none.
 * 5. A test in quarantine runs, and its failure is named and not counted (tools/repeat-tests.mjs).
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolError } from "../entry.mjs";
import { installMatchesLock } from "../setup/freshness.mjs";
import { ROOT, setUp } from "../setup/set-up.mjs";
import { checkRules, checkSources, runCheck } from "./checks.mjs";
import { readQuarantine } from "./quarantine.mjs";

const FLAGS = ["--all", "--no-skips"];

export async function main(given) {
  const [all, noSkips] = FLAGS.map((flag) => given.includes(flag));
  // `npm test -- test/e2e/costs.test.ts` finds costs.full.test.ts too.
  const args = given
    .filter((argument) => !FLAGS.includes(argument))
    .map((argument) => argument.replace(/\.test\.ts$/, "."));
  const checking = args.length === 0;
  const checks = [];
  const build = await runCheck("build", () => complaintOf(() => setUp({ root: ROOT, need: "develop" })));
  if (checking || !build.ok) checks.push(build);
  if (installMatchesLock(ROOT)) {
    // The tests wait much for processes and disks: the checks use that time.
    const check = all ? checkSources : checkRules;
    const results = checking ? check(ROOT) : [];
    const tests = await runTests(args, { all: all || !checking });
    checks.push(...(await results), tests);
  }
  finish(checks, { isRefused: ({ reason }) => noSkips || (checking && reason === "") });
}

async function complaintOf(action) {
  try {
    await action();
    return "";
  } catch (error) {
    return error instanceof ToolError ? error.message : error.stack;
  }
}

async function runTests(args, { all }) {
  const folder = mkdtempSync(join(tmpdir(), "oxbow-test-"));
  const report = join(folder, "report.json");
  try {
    const reporter = fileURLToPath(new URL("./reporter.mjs", import.meta.url));
    const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
    const child = spawn(process.execPath, [vitest, "run", "--reporter=default", `--reporter=${reporter}`, ...args], {
      cwd: ROOT,
      stdio: "inherit",
      env: { ...process.env, OXBOW_TEST_REPORT: report, OXBOW_TEST_ALL: all ? "1" : "" },
    });
    const [code] = await once(child, "close");
    return readReport(report, { code });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The report as one more result; if vitest failed without counts, that is one failure. */
function readReport(path, { code }) {
  try {
    const report = JSON.parse(readFileSync(path, "utf8"));
    if (code !== 0 && report.failed === 0) return { ...report, failed: 1 };
    const quarantine = readQuarantine();
    const excused = report.failures.filter((name) => quarantine.has(name));
    return { ...report, failed: report.failed - excused.length, excused };
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return { passed: 0, failed: 1, skipped: [] };
  }
}

function finish(results, { isRefused }) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { ok, passed = ok ? 1 : 0, failed = ok ? 0 : 1, skipped = [], flaky = [], excused = [] } of results) {
    const refused = skipped.filter(isRefused);
    total.passed += passed;
    total.failed += failed + refused.length;
    total.skipped += skipped.length - refused.length;
    printSkipped(skipped, isRefused);
    total.failed += tooFlaky(flaky);
    for (const name of excused) console.log(`~ failed, in quarantine: ${name}`);
  }
  for (const { name } of results.filter(({ ok }) => ok === false)) console.log(`✗ ${name}`);
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  if (total.failed > 0) process.exitCode = 1;
}

/** A bug, which a second attempt hides: a few may land and are named; more are failures. */
const MOST_FLAKY = 3;

function tooFlaky(names) {
  for (const name of names) console.log(`~ passed at the second attempt only: ${name}`);
  return names.length > MOST_FLAKY ? names.length : 0;
}

function printSkipped(skipped, isRefused) {
  for (const reason of new Set(skipped.map((test) => test.reason))) {
    const tests = skipped.filter((test) => test.reason === reason);
    const mark = tests.some(isRefused)
      ? `✗ ${tests.length} skipped, which counts as failed`
      : `↓ ${tests.length} skipped`;
    console.log(`${mark}: ${reason || NO_REASON}`);
    for (const { name } of tests) console.log(`    ${name}`);
  }
}

const NO_REASON = "no reason given (see test/support/needs.ts)";
