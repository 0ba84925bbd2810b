// A stored key, which goes through the credential helper, beside one in the environment. The floor is ourselves without the helper.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { startMockModel } from "../../dist/testkit.js";
import { median } from "./statistic.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const BIN = here("../../dist/bin.js");
const REPORT = pathToFileURL(here("./report-usage.mjs")).href;
const DELTAS = 20_000;
const TICK_MS = 10;

const clock = {
  now: () => performance.now(),
  wall: () => performance.now(),
  after(ms, action) {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};

export async function measureCredentials({ rounds, onProgress }) {
  onProgress("first request with a stored key");
  const first = await compare("reply\n  text: hello\nloop\n", rounds * 2, (run) => run.requestAt - run.startedAt);
  onProgress(`${DELTAS.toLocaleString("en-US")} deltas through the helper`);
  const script = `reply\n  text repeat=${DELTAS}: word \nloop\n`;
  const cpu = await compare(script, Math.max(5, rounds >> 1), (run) => run.cpuMs);
  const more = median(first.stored) - median(first.environment);
  return [
    { name: "first request, stored key: more", unit: "ms", oxbow: more, limitValue: 40 },
    {
      name: "CPU of 20,000 deltas, engine and helper",
      unit: "ms",
      floor: median(cpu.environment),
      oxbow: median(cpu.stored),
      ratio: median(cpu.stored) / median(cpu.environment),
      limit: 1.3,
    },
  ];
}

async function compare(script, rounds, measure) {
  const folder = mkdtempSync(join(tmpdir(), "oxbow-bench-"));
  const key = ["bench", "key", "of", "no", "account"].join("-");
  const mock = await startMockModel({ script, clock, key });
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    OXBOW_HOME: join(folder, "home"),
    OPENAI_BASE_URL: `${mock.url}/v1`,
  };
  const usageFile = join(folder, "usage.json");
  const ask = async (way) => {
    const helper = helperOf(env.OXBOW_HOME);
    const before = helper === undefined ? 0 : cpuOf(helper);
    const count = mock.requests.length;
    const startedAt = performance.now();
    const given = { ...env, BENCH_USAGE_FILE: usageFile, ...(way === "environment" && { OPENAI_API_KEY: key }) };
    await node(["--import", REPORT, BIN, "run", "go", "--store", "none", "--model", "openai:m"], {
      env: given,
      cwd: folder,
    });
    const { cpuMs } = JSON.parse(readFileSync(usageFile, "utf8"));
    const helperMs = way === "stored" && helper !== undefined ? cpuOf(helper) - before : 0;
    return { startedAt, requestAt: mock.requests[count].at, cpuMs: cpuMs + helperMs };
  };
  try {
    await node([BIN, "auth", "set", "openai", "--stdin"], { env, cwd: folder, input: key });
    // The helper is running and warm, as for every run but the first.
    for (let warm = 0; warm < 3; warm++) await ask("stored");
    const values = { stored: [], environment: [] };
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? ["stored", "environment"] : ["environment", "stored"];
      for (const way of order) values[way].push(measure(await ask(way)));
    }
    return values;
  } finally {
    await node([BIN, "auth", "lock"], { env, cwd: folder });
    await mock.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function helperOf(home) {
  const folder = join(home, "state", "credential-helper");
  try {
    const note = readdirSync(folder).find((name) => name.endsWith(".json"));
    return JSON.parse(readFileSync(join(folder, note), "utf8")).pid;
  } catch {
    return undefined;
  }
}

function cpuOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function node(args, { env, cwd, input }) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
    child.stdout.resume();
    child.stdin.end(input);
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`${args.join(" ")} ended with ${code}`))));
  });
}
