// How long a client of `oxbow serve` waits for an answer while another client sends what costs much to read.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { median } from "./statistic.mjs";

const BIN = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const LENGTH = 256 * 1024;
/** The costliest of test/support/hostile-units.ts, each of another kind. */
const UNITS = [
  "password=abcdefg\n",
  "sk-",
  'api_key="',
  "pass:",
  "cookie: cookie=",
  "https://a:b@c/",
  "\u{1F600}",
  "a\n",
];
const PROSE = "The quick brown fox. ";
const MB = 1024 * 1024;
/** Up to the largest body. Each is refused, some at the last of their bytes. */
const BODIES = [
  () => `{"content":"${"x".repeat(15 * MB)}"}`,
  () => `{"content":"${'\\"'.repeat(7 * MB)}"}`,
  () => `{"content":[${"{},".repeat(24_000)}{}]}`,
  () => `{${Array.from({ length: 900 }, (_, index) => `"${"k".repeat(15_000)}${index}":1`).join(",")}}`,
  () => `{"content":"/${"x".repeat(5 * MB)}"}`,
];

export async function measureHeldUp({ rounds, onProgress }) {
  onProgress("clients beside long inputs");
  const folder = mkdtempSync(join(tmpdir(), "oxbow-bench-"));
  const env = { PATH: process.env.PATH, HOME: folder, OXBOW_HOME: join(folder, "home") };
  const args = [BIN, "serve", "--listen", "127.0.0.1:0", "--provider", "offline"];
  const server = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  try {
    const port = await portOf(server);
    const token = readFileSync(join(env.OXBOW_HOME, "state", "control.token"), "utf8").trim();
    const ask = asker({ port, token });
    await ask("GET", "/v1/handshake");
    const times = Math.max(3, rounds >> 2);
    const ordinary = await longest(ask, PROSE, times);
    const hostile = [];
    for (const unit of UNITS) hostile.push(await longest(ask, unit, times));
    const most = Math.max(...hostile);
    const bodies = [];
    for (const make of BODIES) bodies.push(await besideBody(ask, make(), times));
    return [
      { name: "longest wait beside a long input", unit: "ms", oxbow: ordinary, limitValue: 50 },
      { name: "the same beside a hostile one", unit: "ms", oxbow: most, limitValue: 50 },
      { name: "the same beside a body of up to 15 MB", unit: "ms", oxbow: Math.max(...bodies), limitValue: 50 },
    ];
  } finally {
    server.kill("SIGTERM");
    await new Promise((resolve) => server.once("exit", resolve));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The median of the longest answers of several turns. */
async function longest(ask, unit, times) {
  const content = JSON.stringify({ content: unit.repeat(LENGTH / unit.length) });
  const waits = [];
  for (let round = 0; round < times; round++) {
    const { session } = JSON.parse((await ask("POST", "/v1/sessions")).text);
    const { wait, answer } = await beside(ask, ask("POST", `/v1/sessions/${session}/input?wait=turn`, content));
    const { status, text } = answer;
    if (status !== 200) throw new Error(`the input of ${JSON.stringify(unit)} was refused: ${text.slice(0, 300)}`);
    waits.push(wait);
    await ask("DELETE", `/v1/sessions/${session}`);
  }
  return median(waits);
}

async function besideBody(ask, body, times) {
  const { session } = JSON.parse((await ask("POST", "/v1/sessions")).text);
  const waits = [];
  for (let round = 0; round < times; round++) {
    const { wait, answer } = await beside(ask, ask("POST", `/v1/sessions/${session}/input`, body));
    if (answer.status < 400) throw new Error(`a body of ${body.length} bytes was not refused`);
    waits.push(wait);
  }
  return median(waits);
}

async function beside(ask, request) {
  let isOver = false;
  const asked = request.finally(() => {
    isOver = true;
  });
  let wait = 0;
  while (!isOver) {
    const from = performance.now();
    await ask("GET", "/v1/health");
    wait = Math.max(wait, performance.now() - from);
  }
  return { wait, answer: await asked };
}

async function portOf(server) {
  server.stderr.resume();
  for await (const line of createInterface({ input: server.stdout })) {
    const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error("oxbow serve ended before it listened");
}

function asker({ port, token }) {
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = { "x-oxbow-token": token };
      const sent = request({ host: "127.0.0.1", port, method, path, headers }, (response) => {
        const pieces = [];
        response.on("data", (piece) => pieces.push(piece));
        response.on("error", reject);
        response.on("end", () => resolve({ status: response.statusCode, text: Buffer.concat(pieces).toString() }));
      });
      // A server that refuses a body closes the connection while it is still sent.
      sent.on("error", (error) =>
        ["EPIPE", "ECONNRESET"].includes(error.code) ? resolve({ status: 400, text: "" }) : reject(error),
      );
      sent.end(body);
    });
}
