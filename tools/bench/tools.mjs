// npm run bench -- --tools: the file tools beside the ripgrep binary alone, and the memory they take for large things.
// The two searchers take turns, so that a slow moment of the machine hits both.
import { execFileSync, spawn } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundle } from "../build/bundle.mjs";
import { openTools } from "./one-call.mjs";
import { median } from "./statistic.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ONE_CALL = fileURLToPath(new URL("./one-call.mjs", import.meta.url));
const FILES = 50_000;
const FILES_IN_FOLDER = 100;
const EXTENSIONS = ["ts", "md", "json", "py"];
/** Files with a rare word; the first and the last have the first extension. */
const NEEDLES = [0, 10_001, 20_002, 30_003, 40_000];
const ENTRIES = 100_000;
const LARGE_BYTES = 1_000_000_000;
const LARGE_LINE = `${"a line of a very large file ".repeat(3)}\n`;
const MAX_RATIO = 1.5;
const MAX_EXTRA_MIB = 50;

export async function measureTools({ rounds, onProgress }) {
  const scratch = mkdtempSync(join(tmpdir(), "oxbow-bench-"));
  // Below the checkout, where the tools find the ripgrep of the package; a name with a dot is never published.
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  const built = mkdtempSync(join(ROOT, "dist", ".bench-"));
  try {
    onProgress("building the tools");
    const module = await buildToolbox(built);
    return [
      ...(await measureSearches({ module, scratch, rounds, onProgress })),
      ...measureMemory({ module, scratch, rounds: Math.max(3, rounds >> 2), onProgress }),
    ];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    rmSync(built, { recursive: true, force: true });
  }
}

/** The tools as the program opens them, without the program around them. */
async function buildToolbox(folder) {
  const { chunks } = await bundle({ root: ROOT, entries: { toolbox: "src/runtime/parts/toolbox.ts" }, startUp: [] });
  for (const { fileName, code } of chunks) writeFileSync(join(folder, fileName), code);
  return pathToFileURL(join(folder, "toolbox.js")).href;
}

/* ---- searching ---- */

/** The arguments of the tool, the same search for ripgrep, and the number of expected results. */
const SEARCHES = [
  {
    name: "grep, 5 matches",
    tool: "grep",
    args: { pattern: "needle_\\d+" },
    ripgrep: ["--line-number", "needle_\\d+", "./"],
    count: ["matches", 5],
  },
  {
    name: "grep, 10,000 matches",
    tool: "grep",
    args: { pattern: "sometimes" },
    ripgrep: ["--line-number", "sometimes", "./"],
    count: ["matches", FILES / 5],
  },
  {
    name: "grep, a match in every file",
    tool: "grep",
    args: { pattern: "always here" },
    ripgrep: ["--line-number", "always here", "./"],
    count: ["partial", true],
  },
  {
    name: "grep, names of 10,000 files",
    tool: "grep",
    args: { pattern: "sometimes", mode: "files" },
    ripgrep: ["--files-with-matches", "sometimes", "./"],
    count: ["files", FILES / 5],
  },
  {
    name: "grep with a glob",
    tool: "grep",
    args: { pattern: "needle_\\d+", glob: "**/*.ts" },
    ripgrep: ["--line-number", "--glob", "**/*.ts", "needle_\\d+", "./"],
    count: ["matches", 2],
  },
  {
    name: "glob of a quarter",
    tool: "glob",
    args: { pattern: "**/*.ts" },
    ripgrep: ["--files", "--glob", "**/*.ts", "./"],
    count: ["files", FILES / EXTENSIONS.length],
  },
  {
    name: "glob of everything",
    tool: "glob",
    args: { pattern: "**/*" },
    ripgrep: ["--files", "./"],
    // And the ignore file, which is hidden for ripgrep.
    count: ["files", FILES + 1],
  },
];

async function measureSearches({ module, scratch, rounds, onProgress }) {
  onProgress(`a tree of ${FILES.toLocaleString("en-US")} files`);
  const root = join(scratch, "tree");
  makeTree(root);
  const { openToolbox } = await import(module);
  const run = openTools(openToolbox, root);
  const program = ripgrepProgram();
  const rows = [];
  for (const { name, tool, args, ripgrep, count } of SEARCHES) {
    onProgress(name);
    const subjects = {
      floor: () => drain(program, ripgrep, root),
      oxbow: async () => {
        const { details } = await run(tool, args);
        const [key, expected] = count;
        if (details[key] !== expected) throw new Error(`${name}: ${key} is ${details[key]}, not ${expected}`);
      },
    };
    const times = { floor: [], oxbow: [] };
    // The first round of each fills caches and does not count.
    for (let round = 0; round <= rounds; round++) {
      for (const subject of round % 2 === 0 ? ["floor", "oxbow"] : ["oxbow", "floor"]) {
        const startedAt = performance.now();
        await subjects[subject]();
        if (round > 0) times[subject].push(performance.now() - startedAt);
      }
    }
    const floor = median(times.floor);
    const oxbow = median(times.oxbow);
    rows.push({ name, unit: "ms", floor, oxbow, ratio: oxbow / floor, limit: MAX_RATIO });
  }
  return rows;
}

function makeTree(root) {
  for (let at = 0; at < FILES; at += FILES_IN_FOLDER) {
    const number = at / FILES_IN_FOLDER;
    const folder = join(root, `area-${number % 20}`, `part-${number}`);
    mkdirSync(folder, { recursive: true });
    for (let index = at; index < at + FILES_IN_FOLDER; index++) {
      writeFileSync(join(folder, `file-${index}.${EXTENSIONS[index % EXTENSIONS.length]}`), textOf(index));
    }
  }
  writeFileSync(join(root, ".gitignore"), "node_modules/\n*.log\n");
}

function textOf(index) {
  const lines = Array.from(
    { length: 12 + (index % 17) },
    (_, line) => `const value_${line} = compute(${index + line});`,
  );
  lines.push("a phrase that is always here");
  if (index % 5 === 0) lines.push("a phrase that is here sometimes");
  if (NEEDLES.includes(index)) lines.push(`const needle_${index} = true;`);
  return `${lines.join("\n")}\n`;
}

function ripgrepProgram() {
  try {
    const fromPackage = createRequire(createRequire(import.meta.url).resolve("@vscode/ripgrep"));
    return fromPackage.resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`);
  } catch {
    return execFileSync("which", ["rg"], { encoding: "utf8" }).trim();
  }
}

function drain(program, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ["--no-config", ...args], { cwd, stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.resume();
    child.on("error", reject);
    child.on("close", resolve);
  });
}

/* ---- memory ---- */

function measureMemory({ module, scratch, rounds, onProgress }) {
  onProgress("a file of 1 GB and a folder of 100,000 entries");
  const root = join(scratch, "large");
  makeLarge(root);
  const lines = Math.floor(LARGE_BYTES / LARGE_LINE.length);
  const subjects = [
    { name: "read of 1 GB, at line 10", tool: "read", args: { path: "large.txt", offset: 10 }, least: "small.txt" },
    {
      name: "read of 1 GB, far in",
      tool: "read",
      args: { path: "large.txt", offset: lines - 5000 },
      least: "small.txt",
    },
    { name: "ls of 100,000 entries", tool: "ls", args: { path: "many" }, least: "few" },
  ];
  const rows = [];
  for (const { name, tool, args, least } of subjects) {
    onProgress(name);
    const peaks = { floor: [], oxbow: [] };
    for (let round = 0; round < rounds; round++) {
      peaks.floor.push(peakMiB({ module, root, tool, args: { path: least } }));
      peaks.oxbow.push(peakMiB({ module, root, tool, args }));
    }
    const extra = Math.max(0, median(peaks.oxbow) - median(peaks.floor));
    rows.push({
      name: `extra memory, ${name}`,
      unit: "MiB",
      floor: median(peaks.floor),
      oxbow: extra,
      limitValue: MAX_EXTRA_MIB,
    });
  }
  return rows;
}

function makeLarge(root) {
  for (const folder of ["few", "many"]) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, "small.txt"), LARGE_LINE.repeat(10));
  writeFileSync(join(root, "few", "one.txt"), "");
  const piece = Buffer.from(LARGE_LINE.repeat(10_000));
  const file = openSync(join(root, "large.txt"), "w");
  for (let written = 0; written < LARGE_BYTES; ) written += writeSync(file, piece);
  closeSync(file);
  for (let index = 0; index < ENTRIES; index++) closeSync(openSync(join(root, "many", `entry-${index}.txt`), "w"));
}

/** The peak memory of a separate process that opens the tools and makes one call. */
function peakMiB(call) {
  return Number(execFileSync(process.execPath, [ONE_CALL, JSON.stringify(call)], { encoding: "utf8" }));
}
