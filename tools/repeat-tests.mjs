/**
 * Runs tests many times and names those that fail only now and then, for a nightly job:
 *
 *     npm run repeat                                 the tests of sockets and transports, ten times
 *     npm run repeat -- --runs 50 src/control        others, or more often
 *     npm run repeat -- --reports FOLDER             counts JSON reports of Vitest that exist, and runs nothing
 *
 * Ends with 1 if a test failed in any run.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const SOCKET_TESTS = ["test/service", "src/control/transports", "src/clients/sdk", "src/clients/sdk-node"];

const { values, positionals } = parseArgs({
  options: { runs: { type: "string", default: "10" }, reports: { type: "string" } },
  allowPositionals: true,
});
const runs = Number(values.runs);
if (!Number.isInteger(runs) || runs < 1) {
  console.error("--runs needs a number from 1 on.");
  process.exit(2);
}

const folder = values.reports ?? mkdtempSync(join(tmpdir(), "repeat-tests-"));
if (values.reports === undefined) runTests(positionals.length > 0 ? positionals : SOCKET_TESTS);
const reports = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
if (values.reports === undefined) rmSync(folder, { recursive: true });
process.exitCode = show(reports);

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

function show(all) {
  const failures = new Map();
  for (const { testResults } of all) {
    for (const { name, status, assertionResults } of testResults) {
      const failed = assertionResults.filter((each) => each.status === "failed").map(({ fullName }) => fullName);
      // A file that cannot be loaded has no tests.
      const titles = failed.length === 0 && status === "failed" ? ["the file itself"] : failed;
      for (const title of titles) {
        const key = `${name}: ${title}`;
        failures.set(key, (failures.get(key) ?? 0) + 1);
      }
    }
  }
  for (const [test, count] of failures) {
    console.log(`${count === all.length ? "always fails" : `failed ${count} of ${all.length} times`}: ${test}`);
  }
  console.log(`${all.length} ${all.length === 1 ? "run" : "runs"}, ${failures.size} unsteady or failing tests`);
  return failures.size > 0 || all.length === 0 ? 1 : 0;
}
