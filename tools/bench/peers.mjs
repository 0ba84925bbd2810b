/**
 * Compares Oxbow with other harnesses: the same task over the same mock model, in turns, each as its package installs it and without
 * a sandbox. The folder of `--peers` has them in its node_modules: npm i @openai/codex @earendil-works/pi-coding-agent
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { alternate, withMock } from "./measure.mjs";
import { median, rowOf } from "./statistic.mjs";

const BIN = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const TURNS = 20;
const EXIT_MS = 40;

const SHELL_CALL = 'tool bash {"command": "echo hello"}';
const PROGRAMS = {
  oxbow: {
    path: () => BIN,
    shellCall: SHELL_CALL,
    prompt: ["run", "go", "--permission-mode", "allow", "--model", "openai:m", "--sandbox", "off"],
    interactive: ["--model", "openai:m"],
    configure() {},
  },
  pi: {
    path: (peers) => join(peers, "node_modules/@earendil-works/pi-coding-agent/dist/cli.js"),
    shellCall: SHELL_CALL,
    prompt: ["--offline", "--provider", "mock", "--model", "m", "--print", "go"],
    interactive: ["--offline", "--provider", "mock", "--model", "m"],
    configure(home, url) {
      const mock = { baseUrl: `${url}/v1`, api: "openai-completions", apiKey: "bench", models: [{ id: "m" }] };
      write(join(home, ".pi", "agent"), "models.json", JSON.stringify({ providers: { mock } }));
    },
  },
  codex: {
    path: (peers) => join(peers, "node_modules/@openai/codex/bin/codex.js"),
    shellCall: 'tool exec_command {"cmd": "echo hello"}',
    prompt: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go"],
    interactive: [],
    configure(home, url) {
      const provider = `{ name = "mock", base_url = "${url}/v1", wire_api = "responses", env_key = "OPENAI_API_KEY" }`;
      const trust = `projects."${home}" = { trust_level = "trusted" }`;
      const settings = ['model = "m"', 'model_provider = "mock"', `model_providers.mock = ${provider}`, trust];
      write(join(home, ".codex"), "config.toml", settings.concat("analytics.enabled = false", "").join("\n"));
    },
  },
};

/** The programs of a run: Oxbow, and the peers that the folder has. */
export function programsIn(peers) {
  if (peers === undefined) return ["oxbow"];
  const found = Object.keys(PROGRAMS).filter((name) => existsSync(PROGRAMS[name].path(resolve(peers))));
  if (found.length < 2) throw new Error(`there is no peer in ${resolve(peers)}/node_modules`);
  return found;
}

/** Makes a home with the settings of a program; `command` is what follows `node`. */
export function prepare(name, { peers, url, kind }) {
  const home = mkdtempSync(join(tmpdir(), "oxbow-bench-"));
  const { path, configure, [kind]: args } = PROGRAMS[name];
  configure(home, url);
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    OXBOW_HOME: join(home, "home"),
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: "bench",
  };
  const remove = () => rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  return { home, command: [path(resolve(peers ?? "."))].concat(args), env, remove };
}

export async function measurePeers({ rounds, onProgress, peers }) {
  const programs = programsIn(peers);
  onProgress(`${TURNS} shell turns and one answer of ${programs.join(", ")}`);
  const samples = await alternate(
    rounds,
    async (name) => ({
      ...(await runTask(name, { peers, turns: TURNS })),
      // Nothing can be prepared while the model thinks.
      atOnceMs: (await runTask(name, { peers, turns: 0 })).exitMs,
    }),
    programs,
  );
  const column = (name, key) => samples[name].map((sample) => sample[key]);
  const against = (title, key, unit, traits) =>
    programs.slice(1).map((peer) => {
      const values = { floor: column(peer, key), oxbow: column("oxbow", key) };
      return rowOf({ name: `${title}, against ${peer}`, unit, values, ...traits });
    });
  return [
    ...against("start to first request", "startMs", "ms", { limit: 0.75 }),
    ...against("a shell turn", "turnMs", "ms", { limit: 1 }),
    ...against("exit after the last answer", "exitMs", "ms", { limit: 1, enoughMs: EXIT_MS }),
    ...against("exit after an answer at once", "atOnceMs", "ms", { limit: 1, enoughMs: EXIT_MS }),
    ...against("peak memory", "peakMiB", "MiB", { limit: 1 }),
  ];
}

async function runTask(name, { peers, turns }) {
  const script = `${`reply\n  ${PROGRAMS[name].shellCall}\n`.repeat(turns)}reply\n  text: done\n`;
  return withMock(script, async (mock) => {
    const { home, command, env, remove } = prepare(name, { peers, url: mock.url, kind: "prompt" });
    const startedAt = performance.now();
    const child = spawn(process.execPath, command, { cwd: home, env, stdio: ["ignore", "ignore", "ignore"] });
    const ended = new Promise((done, fail) => {
      child.on("error", fail);
      child.on("exit", (code) => done({ code, at: performance.now() }));
    });
    let peakMiB = 0;
    let answeredAt = 0;
    // The mark of a process is its highest so far; the last request is late enough.
    mock.waitForRequest(turns + 1).then(
      async (request) => {
        peakMiB = peakOf(child.pid);
        await request.ended;
        answeredAt = performance.now();
      },
      () => {},
    );
    const { code, at } = await ended;
    remove();
    const times = mock.requests.map((request) => request.at);
    if (code !== 0 || times.length !== turns + 1)
      throw new Error(`${name}: exit code ${code}, ${times.length} requests`);
    const turnMs = median(times.slice(1).map((time, index) => time - times[index]));
    return { startMs: times[0] - startedAt, turnMs, exitMs: at - answeredAt, peakMiB };
  });
}

/** The peaks of a process and of the processes below it, in MiB. */
export function peakOf(pid) {
  return familyOf(pid).reduce((sum, member) => sum + peakKiB(member), 0) / 1024;
}

export function familyOf(pid) {
  let children = [];
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
  } catch {
    // It has ended.
  }
  return [pid, ...children.flatMap(familyOf)];
}

function peakKiB(pid) {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function write(folder, name, text) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
}
