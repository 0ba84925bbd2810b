// Approves everything in a folder, as a person at a terminal does: nothing else can.

import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";

const BIN = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));

export async function approveAll(home, { cwd, flags = ["--all"] }) {
  const terminal = spawn(process.execPath, [BIN, "ack", ...flags, "--plain"], {
    cols: 120,
    rows: 40,
    cwd,
    env: environment(home),
  });
  let output = "";
  const ended = new Promise((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  terminal.onData((piece) => {
    output += piece;
    if (/\[y\/N\]|\[y\]/.test(piece)) terminal.write("y\r");
  });
  const code = await ended;
  if (code !== 0) throw new Error(`oxbow ack ended with exit code ${code}: ${output.slice(-500)}`);
}

export function environment(home, url = "http://127.0.0.1:9") {
  return {
    PATH: process.env.PATH,
    HOME: home,
    OXBOW_HOME: home,
    TERM: "xterm-256color",
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: "bench",
  };
}
