// npm run bench [-- --quick] [-- --update]: Oxbow beside a bare Node loop over the same mock model, as ratios of one run.
// npm run bench -- --peers DIR: beside Codex and pi, other harnesses, which DIR has in its node_modules (peers.mjs).
// npm run bench -- --tools: the file tools beside ripgrep alone (tools.mjs).
// npm run bench -- --credentials: a stored key beside one in the environment (credentials.mjs).
// npm run bench -- --terminal [--peers DIR]: the terminal client in a real terminal (terminal.mjs).
// npm run bench -- --extensions: what 200 tools and 100 hooks add to a turn (extensions.mjs).
// npm run bench -- --mcp: what ten MCP servers with 300 tools add to a start (mcp.mjs).
// npm run bench -- --tokens [--peers DIR]: what a task of 15 calls sends to a model (tokens.mjs).
// npm run bench -- --held-up: how long clients of `oxbow serve` wait while another one sends long inputs (held-up.mjs).
// Milliseconds differ from machine to machine and from hour to hour; the ratios are what the bars and the baseline are made of.
// If a row fails, all are measured once more and the rounds of both count together: more rounds, no choice between figures.
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { ACCEPTED } from "./accepted.mjs";
import { pooled } from "./statistic.mjs";
import { verdictOf } from "./verdict.mjs";

const BASELINE = new URL("./baseline.json", import.meta.url);
const quick = process.argv.includes("--quick");
const SUBJECTS = {
  "--tools": async () => (await import("./tools.mjs")).measureTools,
  "--credentials": async () => (await import("./credentials.mjs")).measureCredentials,
  "--terminal": async () => (await import("./terminal.mjs")).measureTerminal,
  "--extensions": async () => (await import("./extensions.mjs")).measureExtensions,
  "--mcp": async () => (await import("./mcp.mjs")).measureMcp,
  "--held-up": async () => (await import("./held-up.mjs")).measureHeldUp,
  "--tokens": async () => (await import("./tokens.mjs")).measureTokens,
  "--peers": async () => (await import("./peers.mjs")).measurePeers,
};
const [, loadMeasure] = Object.entries(SUBJECTS).find(([flag]) => process.argv.includes(flag)) ?? [];
const measure = loadMeasure === undefined ? (await import("./measure.mjs")).measureAll : await loadMeasure();
const options = {
  rounds: quick ? 5 : 15,
  peers: process.argv.includes("--peers") ? process.argv[process.argv.indexOf("--peers") + 1] : undefined,
  onProgress: (what) => process.stderr.write(`measuring: ${what}\n`),
};

let baseline = {};
try {
  baseline = JSON.parse(readFileSync(BASELINE, "utf8"));
} catch {
  process.stderr.write("there is no baseline yet; --update writes one\n");
}

const verdict = (row) => verdictOf(row, { baseline, accepted: ACCEPTED });
let rows = await measure(options);
if (rows.some((row) => verdict(row).problem !== undefined)) {
  process.stderr.write("a row fails: measuring once more, all rounds count\n");
  rows = pooled(rows, await measure(options));
}

const number = (value) => (value === undefined ? "" : value >= 100 ? value.toFixed(0) : value.toFixed(2));
const problems = [];
const table = rows.map((row) => {
  const limit = row.limit ?? row.limitValue;
  const { problem, note } = verdict(row);
  if (problem !== undefined) problems.push(`${row.name}: ${problem}`);
  return [
    row.name,
    number(row.floor),
    number(row.oxbow),
    row.unit,
    row.ratio === undefined ? "" : `${number(row.ratio)}x`,
    limit === undefined ? "" : `≤ ${limit}${row.enoughMs === undefined ? "" : ` or ${number(row.enoughMs)} ms`}`,
    note,
  ];
});
const header = ["", "floor", "oxbow", "", "ratio", "bar", ""];
const widths = header.map((_, column) => Math.max(...[header, ...table].map((line) => line[column].length)));
for (const line of [header, ...table]) {
  console.log(
    line
      .map((cell, column) =>
        column === 0 || column >= 5 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
      )
      .join("  ")
      .trimEnd(),
  );
}

const [load = 0] = loadavg();
if (load > availableParallelism()) {
  console.log(`\nthe machine is busy (load ${load.toFixed(1)}): times and their ratios are too high`);
}

if (process.argv.includes("--update")) {
  // Milliseconds of one machine are no baseline for another.
  const lasting = rows.filter(({ ratio, unit }) => ratio !== undefined || unit !== "ms");
  const next = Object.fromEntries(lasting.map((row) => [row.name, Number((row.ratio ?? row.oxbow).toFixed(3))]));
  writeFileSync(BASELINE, `${JSON.stringify({ ...baseline, ...next }, null, 2)}\n`);
  console.log("\nbaseline written");
}
if (problems.length > 0) {
  console.log(`\n${problems.join("\n")}`);
  process.exitCode = 1;
}
