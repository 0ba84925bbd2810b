// What ten MCP servers with 300 tools cost a start: the time, the processor time and the size of the first request, beside a folder without any.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { startMockModel } from "../../dist/testkit.js";
import { approveAll } from "./approve-all.mjs";
import { lowerQuartile, median } from "./statistic.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const BIN = here("../../dist/bin.js");
const REPORT = pathToFileURL(here("./report-usage.mjs")).href;
const SERVER = here("../../test/support/mcp-server.mjs");
const SERVERS = 10;
const TOOLS_EACH = 30;
/** The time by which two runs of the same program differ. */
const NOISE_MS = 3;
const MOST_ADDED_BYTES = 2048;

export async function measureMcp({ rounds, onProgress }) {
  const folder = mkdtempSync(join(tmpdir(), "oxbow-bench-"));
  try {
    const places = await writePlaces(folder, onProgress);
    // The first start in a place searches it.
    for (const place of Object.values(places)) await startTime(place, folder);
    const runs = Object.fromEntries(Object.keys(places).map((name) => [name, []]));
    for (let round = 0; round < rounds * 3; round++) {
      if (round % 10 === 0) onProgress(`round ${round + 1} of ${rounds * 3}`);
      // The order turns, so that no place always runs after the same other one.
      const names = Object.keys(places);
      for (let at = 0; at < names.length; at++) {
        const name = names[(at + round) % names.length];
        runs[name].push(await startTime(places[name], folder));
      }
    }
    return ["project", "own"].flatMap((name) => rowsOf(name, runs.bare, runs[name]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowsOf(name, bare, full) {
  const which = `${SERVERS} ${name === "own" ? "servers of the user" : "servers of the project"}`;
  const [floor, oxbow] = [bare, full].map((runs) => lowerQuartile(runs.map(({ wallMs }) => wallMs)));
  const [floorBytes, bytes] = [bare, full].map((runs) => median(runs.map((run) => run.bytes)));
  // Runs of one round meet the same load, so their differences vary less than the times themselves.
  const added = (figure) => median(full.map((run, round) => figure(run) - figure(bare[round])));
  return [
    { name: `start to first request, without and with ${which}`, unit: "ms", floor, oxbow },
    { name: `added by ${which}`, unit: "ms", oxbow: added(({ wallMs }) => wallMs), limitValue: NOISE_MS },
    { name: `processor time added by ${which}`, unit: "ms", oxbow: added(({ cpuMs }) => cpuMs) },
    {
      name: `first request, added by ${which} with ${SERVERS * TOOLS_EACH} tools`,
      unit: "bytes",
      oxbow: bytes - floorBytes,
      limitValue: MOST_ADDED_BYTES,
    },
  ];
}

async function writePlaces(folder, onProgress) {
  const tools = Object.fromEntries(Array.from({ length: TOOLS_EACH }, (_, index) => [`tool_${index}`, {}]));
  const plan = join(folder, "plan.json");
  writeFileSync(plan, JSON.stringify({ tools }));
  const names = Array.from({ length: SERVERS }, (_, index) => `server${index}`);
  const entry = { command: process.execPath, args: [SERVER, plan] };
  const place = (name) => {
    const [work, home] = [join(folder, name, "work"), join(folder, name, "home")];
    mkdirSync(work, { recursive: true });
    mkdirSync(join(home, "config"), { recursive: true });
    writeFileSync(join(work, "file.txt"), "hello\n");
    return { work, home };
  };
  const places = { bare: place("bare"), project: place("project"), own: place("own") };
  const settings = 'permission_mode = "ask"\n';
  // Reading the user's settings costs the same with and without servers.
  for (const { home } of Object.values(places)) writeFileSync(join(home, "config", "config.toml"), settings);
  writeFileSync(
    join(places.project.work, ".mcp.json"),
    JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, entry])) }),
  );
  writeFileSync(
    join(places.own.home, "config", "config.toml"),
    settings +
      names
        .map((name) => `[mcp_servers.${name}]\ncommand = "${entry.command}"\nargs = ${JSON.stringify(entry.args)}\n`)
        .join("\n"),
  );
  for (const name of ["project", "own"]) {
    onProgress(`approving: ${name}`);
    await approveAll(places[name].home, { cwd: places[name].work, flags: [] });
  }
  return places;
}

async function startTime({ work, home }, folder) {
  const usageFile = join(folder, "usage.json");
  const clock = { now: () => performance.now(), wall: () => performance.now(), after: () => () => {} };
  const mock = await startMockModel({ script: "reply\n  text: done\n", clock });
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, OXBOW_HOME: home, BENCH_USAGE_FILE: usageFile },
    ...{ OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "bench" },
  };
  const args = ["--import", REPORT, BIN, "run", "go", "--model", "openai:m"];
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { cwd: work, env, stdio: ["ignore", "ignore", "inherit"] });
  const code = await new Promise((resolve) => child.on("close", resolve));
  const [request] = mock.requests;
  await mock.close();
  if (code !== 0 || request === undefined) throw new Error(`oxbow ended with exit code ${code}`);
  const { cpuMs } = JSON.parse(readFileSync(usageFile, "utf8"));
  return { wallMs: request.at - startedAt, cpuMs, bytes: Buffer.byteLength(JSON.stringify(request.body)) };
}
