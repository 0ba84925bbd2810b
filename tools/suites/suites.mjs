/** `npm run suites [-- NAME…]`: suites of cases kept beside the project, run against it through the conformance adapter. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ToolError } from "../entry.mjs";
import { ROOT, setUp } from "../setup/set-up.mjs";
import { ACCEPTED } from "./accepted.mjs";
import { askInjection } from "./injection.mjs";
import { digestOf, verdictOf } from "./verdict.mjs";

const DEFAULT_SUITES = [
  "sse",
  "wire",
  "edits",
  "containment",
  "terminal",
  "secrets",
  "bash",
  "ssrf",
  "injection",
  "instructions",
  "skills",
];
const ADAPTER = [process.execPath, join(ROOT, "tools", "adapter.mjs")];
const COLUMNS = ["suite", "pass", "fail", "accepted", "contested", "usability", "unsupported", "seconds"];

export async function main(names) {
  const folder = resolve(process.env.OXBOW_SUITES || join(ROOT, "..", "shared", "suites"));
  const runner = join(folder, "runner", "run.mjs");
  if (!existsSync(runner)) {
    console.log(`No suites at ${folder}: nothing was run. Set OXBOW_SUITES to the folder that holds them.`);
    return;
  }
  await setUp({ root: ROOT, need: "run" });
  const results = [];
  for (const name of names.length > 0 ? names : DEFAULT_SUITES) results.push(await runSuite(runner, name));
  console.log(table([COLUMNS, ...results.map((result) => COLUMNS.map((column) => String(result[column])))]));
  const failures = results.flatMap(({ suite, failures }) => failures.map(({ id, info }) => ({ suite, id, info })));
  for (const { suite, id, info } of failures) {
    console.log(`FAIL ${suite} ${id} (${digestOf(info)}): ${JSON.stringify(info)}`);
  }
  const missing = results.flatMap((result) => result.missing);
  for (const { suite, id, digest = "" } of missing) {
    console.log(`PASSES NOW ${suite} ${id} ${digest}: take it out of tools/suites/accepted.mjs`);
  }
  if (failures.length > 0 || missing.length > 0) process.exitCode = 1;
  else console.log("No failure but the recorded ones (tools/suites/accepted.mjs has the reasons).");
}

async function runSuite(runner, suite) {
  const from = performance.now();
  const report = await (suite === "injection" ? askInjection(runner, ADAPTER) : askRunner(runner, suite));
  const { failures, missing } = verdictOf(suite, report.failures, ACCEPTED);
  return {
    suite,
    pass: report.pass,
    fail: failures.length,
    accepted: report.failures.length - failures.length,
    contested: report.contested,
    usability: report.fp,
    unsupported: report.unsupported,
    seconds: ((performance.now() - from) / 1000).toFixed(1),
    failures,
    missing,
  };
}

/** The runner leaves its folders behind, so it gets a temporary folder of its own. */
export async function askRunner(runner, suite, temporary = tmpdir()) {
  const folder = await mkdtemp(join(temporary, "oxbow-suites-"));
  try {
    return await reportOf(runner, suite, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The runner's report. Its exit code only shows whether there were failures; the report lists them. */
function reportOf(runner, suite, folder) {
  const child = spawn(process.execPath, [runner, suite, "--", ...ADAPTER], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, VERBOSE: "1", TMPDIR: folder },
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", () => {
      try {
        done(JSON.parse(output));
      } catch {
        fail(new ToolError(`the suite ${suite} gave no report: ${output.trim() || "see above"}`));
      }
    });
  });
}

function table(rows) {
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])));
  return rows.map((row) => line(row).join("  ")).join("\n");
}
