// What many extensions cost in a turn when none of them changed: 200 tools and 100 hooks in the user's own folder beside an empty one.

import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startMockModel } from "../../dist/testkit.js";
import { approveAll, environment } from "./approve-all.mjs";
import { lowerQuartile, median } from "./statistic.mjs";

const BIN = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const TOOLS = 200;
const HOOKS = 100;
const TURNS = 40;
/** The first iterations start what later ones find ready. */
const WARM_UP = 5;
const MOST_ADDED_MS = 5;

export async function measureExtensions({ rounds, onProgress }) {
  const folder = mkdtempSync(join(tmpdir(), "oxbow-bench-"));
  try {
    const bare = join(folder, "bare");
    const full = join(folder, "full");
    mkdirSync(bare);
    writeExtensions(join(full, "config"));
    onProgress("approving");
    await approveAll(full, { cwd: bare });
    const times = { bare: [], full: [] };
    for (let round = 0; round < Math.max(3, rounds >> 1); round++) {
      onProgress(`round ${round + 1}`);
      times.bare.push(await iterationTime(bare));
      times.full.push(await iterationTime(full));
    }
    const [floor, oxbow] = [lowerQuartile(times.bare), lowerQuartile(times.full)];
    return [
      { name: "an iteration without and with extensions", unit: "ms", floor, oxbow },
      {
        name: `added by ${TOOLS} tools and ${HOOKS} hooks`,
        unit: "ms",
        oxbow: oxbow - floor,
        limitValue: MOST_ADDED_MS,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeExtensions(config) {
  const schema = (name) =>
    JSON.stringify({ name, description: "Does nothing.", input_schema: { type: "object", properties: {} } });
  for (let index = 0; index < TOOLS; index++) {
    const name = `tool_${index}`;
    program(join(config, "tools"), name, `case "$1" in --schema) echo '${schema(name)}';; *) echo nothing;; esac`);
  }
  // None of these turns has an error, so that the hooks are found and not run.
  for (let index = 0; index < HOOKS; index++)
    program(join(config, "hooks.d", "error"), `${10 + (index % 80)}-hook-${index}`, "true");
}

function program(folder, name, text) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, name), 0o755);
}

/** The median time from one request to the next; each asks for a file, so that no process starts in between. */
async function iterationTime(home) {
  const work = mkdtempSync(join(tmpdir(), "oxbow-bench-"));
  writeFileSync(join(work, "file.txt"), "hello\n");
  const script = `${'reply\n  tool read {"path": "file.txt"}\n'.repeat(TURNS)}reply\n  text: done\n`;
  const at = [];
  const clock = { now: () => performance.now(), wall: () => performance.now(), after: () => () => {} };
  const mock = await startMockModel({ script, clock });
  const child = spawn(process.execPath, [BIN, "run", "go", "--model", "openai:m", "--sandbox", "off"], {
    cwd: work,
    env: environment(home, mock.url),
    stdio: ["ignore", "ignore", "inherit"],
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  at.push(...mock.requests.map((request) => request.at));
  await mock.close();
  rmSync(work, { recursive: true, force: true });
  if (code !== 0) throw new Error(`oxbow ended with exit code ${code}`);
  return median(at.slice(1 + WARM_UP).map((time, index) => time - at[index + WARM_UP]));
}
