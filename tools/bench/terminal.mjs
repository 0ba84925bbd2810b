// The terminal client in a real terminal: how soon it can be typed into, what it uses when idle, and what long answers and long drafts cost.
// With --peers DIR the starts of the peers are measured in the same run.
import { readdirSync, readFileSync } from "node:fs";
import { startMockModel } from "../../dist/testkit.js";
import { familyOf, prepare, programsIn } from "./peers.mjs";
import { lowerQuartile, median, rowOf } from "./statistic.mjs";
import { runPrompt } from "./subject.mjs";

const DELTAS = 20_000;
const ANSWER_LINES = 10_000;
const DRAFT_LINES = 2_000;
const KEYS = 200;
const IDLE_MS = 10_000;
/** After the first paint the client reads its sessions and tests the sandbox. */
const READY_MS = 1_000;
/** The client gives memory back some seconds after a long answer. */
const SETTLE_MS = 4_000;
const LONG_SESSION = 3_000;
const QUICK_SESSION = 300;
const TURN_END_MS = 20;
/** Words that a program shows when it takes keys. */
const READY = { oxbow: "────", pi: "────", codex: "Ask Codex" };
/** No word of the answer or of the screen has them. */
const RARE_KEYS = [..."QXZV"];

export async function measureTerminal({ rounds, onProgress, peers }) {
  const rows = [];
  onProgress("exec to the prompt");
  const programs = programsIn(peers);
  const starts = Object.fromEntries(programs.map((program) => [program, []]));
  for (let round = 0; round < rounds; round++)
    for (const program of programs) starts[program].push(await startTime(program, peers));
  const oxbow = lowerQuartile(starts.oxbow);
  const others = programs.slice(1).map((program) => lowerQuartile(starts[program]));
  const fastest = others.length === 0 ? undefined : Math.min(...others);
  const against = fastest === undefined ? {} : { floor: fastest, ratio: oxbow / fastest, limit: 0.75 };
  rows.push({ name: "exec to the prompt, against the fastest peer", unit: "ms", oxbow, ...against });

  onProgress("an idle client, and a long answer");
  rows.push(
    ...(await withClient(`reply\n  text repeat=${ANSWER_LINES}: a line of the answer\\n\n`, idleAndLongAnswer)),
  );

  onProgress(`${DELTAS.toLocaleString("en-US")} deltas`);
  rows.push(...(await deltaRows(rounds)));

  onProgress(`typing into ${DRAFT_LINES.toLocaleString("en-US")} lines`);
  rows.push(await withClient("reply\n  text: hello\n", typing));

  onProgress("typing while an answer streams");
  rows.push(await withClient(`reply\n  text every=5ms repeat=${DELTAS}: word \n`, typingBesideAnswer));

  const turns = rounds < 15 ? QUICK_SESSION : LONG_SESSION;
  onProgress(`${turns.toLocaleString("en-US")} turns`);
  rows.push(
    await withClient("reply\n  text: A short answer.\nloop\n", (client, mock) => growth(client, { mock, turns })),
  );
  return rows;
}

async function startTime(subject, peers) {
  const client = await openClient(subject, { url: "http://127.0.0.1:9", peers });
  try {
    return await client.shown(READY[subject]);
  } finally {
    client.close();
  }
}

async function idleAndLongAnswer(client) {
  await pause(READY_MS);
  const before = client.cpuMs();
  await pause(IDLE_MS);
  const idle = client.cpuMs() - before;
  const memory = client.memoryMiB();
  client.type("go\r");
  await client.quiet(1_500);
  await pause(SETTLE_MS);
  return [
    // One collection of garbage by V8 is 20 ms, 0.2 %; nothing else runs.
    { name: "CPU of an idle client and its engine", unit: "%", oxbow: (idle / IDLE_MS) * 100, limitValue: 0.3 },
    { name: "memory of an idle client", unit: "MiB", oxbow: memory, limitValue: 90 },
    {
      name: `growth after ${ANSWER_LINES.toLocaleString("en-US")} lines`,
      unit: "MiB",
      oxbow: client.memoryMiB() - memory,
      limitValue: 20,
    },
  ];
}

/** The two take turns, because one figure alone differs by a fifth from run to run. */
async function deltaRows(rounds) {
  const script = `reply\n  text repeat=${DELTAS}: word \n`;
  const values = { floor: [], oxbow: [] };
  let bytes = 0;
  for (let round = 0; round < rounds; round++) {
    const mock = await startMockModel({ script });
    const { usage } = await runPrompt("oxbow", { url: mock.url, measureUsage: true });
    await mock.close();
    values.floor.push(usage.cpuMs);
    await withClient(script, async (client) => {
      const before = { cpu: client.cpuMs(), bytes: client.bytes() };
      client.type("go\r");
      await client.quiet(1_500);
      values.oxbow.push(client.cpuMs() - before.cpu);
      bytes = client.bytes() - before.bytes;
    });
  }
  return [
    rowOf({ name: "CPU of 20,000 deltas, against headless", unit: "ms", values, limit: 2 }),
    { name: "bytes written, against the text", unit: "bytes", ...ratio(DELTAS * "word ".length, bytes, 2) },
  ];
}

async function typing(client) {
  const draft = Array.from({ length: DRAFT_LINES }, (_, line) => `line ${line} of the draft`).join("\n");
  client.type(`\x1b[200~${draft}\x1b[201~`);
  await client.quiet(500);
  const times = [];
  for (let key = 0; key < KEYS; key++) {
    const started = performance.now();
    const answer = client.nextOutput();
    client.type(String.fromCharCode(97 + (key % 26)));
    await answer;
    times.push(performance.now() - started);
  }
  const p95 = [...times].sort((a, b) => a - b)[Math.floor(KEYS * 0.95)];
  return {
    name: `a key in ${DRAFT_LINES.toLocaleString("en-US")} lines, p95 (median ${median(times).toFixed(1)})`,
    unit: "ms",
    oxbow: p95,
    limitValue: 16,
  };
}

async function typingBesideAnswer(client) {
  client.type("go\r");
  await client.said("word word");
  const times = [];
  for (let key = 0; key < KEYS; key++) {
    const letter = RARE_KEYS[key % RARE_KEYS.length];
    const started = performance.now();
    const echo = client.said(letter);
    client.type(letter);
    await echo;
    times.push(performance.now() - started);
    // As a quick person types, at another place of a frame each time.
    await pause(37);
  }
  const p95 = [...times].sort((a, b) => a - b)[Math.floor(KEYS * 0.95)];
  const name = `a key while an answer streams, p95 (median ${median(times).toFixed(1)})`;
  return { name, unit: "ms", oxbow: p95, limitValue: 15 };
}

async function growth(client, { mock, turns }) {
  await pause(READY_MS);
  const before = client.memoryMiB();
  for (let turn = 0; turn < turns; turn++) {
    client.type("go\r");
    const request = await mock.waitForRequest(turn + 1);
    await request.ended;
    // A prompt that comes before the end of the turn only begins another one.
    await pause(TURN_END_MS);
  }
  await pause(SETTLE_MS);
  const name = `growth after ${turns.toLocaleString("en-US")} turns`;
  return { name, unit: "MiB", oxbow: client.memoryMiB() - before, limitValue: 20 };
}

function ratio(floor, oxbow, limit) {
  return { floor, oxbow, ratio: oxbow / floor, limit };
}

async function withClient(script, action) {
  const mock = await startMockModel({ script });
  const client = await openClient("oxbow", { url: mock.url });
  try {
    await client.shown("────");
    return await action(client, mock);
  } finally {
    client.close();
    await mock.close();
  }
}

async function openClient(subject, { url, peers }) {
  const { spawn } = await import("@lydell/node-pty");
  const { home, command, env, remove } = prepare(subject, { peers, url, kind: "interactive" });
  const startedAt = performance.now();
  const terminal = spawn(process.execPath, command, {
    ...{ cols: 100, rows: 30, cwd: home },
    env: { ...env, TERM: "xterm-256color" },
  });
  let output = "";
  let bytes = 0;
  let lastAt = startedAt;
  const listeners = new Set();
  terminal.onData((piece) => {
    bytes += Buffer.byteLength(piece);
    output = (output + piece).slice(-100_000);
    lastAt = performance.now();
    for (const listener of [...listeners]) listener();
  });
  const nextOutput = () =>
    new Promise((resolve) => {
      const listener = () => {
        listeners.delete(listener);
        resolve();
      };
      listeners.add(listener);
    });
  return {
    type: (text) => terminal.write(text),
    nextOutput,
    bytes: () => bytes,
    /** Milliseconds from the start until the text is on the screen. */
    async shown(text) {
      while (!withoutColours(output).includes(text)) await nextOutput();
      return lastAt - startedAt;
    },
    /** Resolves when a text is written from now on. */
    async said(text) {
      const from = bytes;
      do await nextOutput();
      while (!withoutColours(output.slice(-Math.min(output.length, bytes - from))).includes(text));
    },
    /** Resolves when nothing was written for this long. */
    async quiet(ms) {
      await nextOutput();
      while (performance.now() - lastAt < ms) await pause(50);
    },
    cpuMs: () => cpuOf(terminal.pid),
    memoryMiB: () =>
      Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${terminal.pid}/status`, "utf8"))?.[1]) / 1024,
    close() {
      terminal.kill("SIGKILL");
      remove();
    },
  };
}

function withoutColours(text) {
  return text.replaceAll(/\x1b\[[?\d;]*[A-Za-z]|\x1b\][^\x07]*\x07/g, "");
}

/** Of the client, its engine and its helpers, in all their threads: Linux counts nanoseconds. */
function cpuOf(pid) {
  const spent = familyOf(pid).flatMap((member) =>
    readdirSync(`/proc/${member}/task`).map((task) => {
      return Number(readFileSync(`/proc/${member}/task/${task}/schedstat`, "utf8").split(" ")[0]);
    }),
  );
  return spent.reduce((sum, each) => sum + each, 0) / 1_000_000;
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
