/** For tests: programs that are killed, or may abort, and so run in processes of their own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const MODULES = fileURLToPath(new URL("../../../../node_modules", import.meta.url));

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export interface RunningChild {
  readonly process: ChildProcess;
  readonly out: () => string;
  readonly end: Promise<ChildEnd>;
}

export interface ChildPrograms {
  start(name: string, ...args: readonly string[]): RunningChild;
  /** In a shell that has run `preparation` first. */
  startAfter(preparation: string, name: string, ...args: readonly string[]): RunningChild;
  discard(): Promise<void>;
}

export async function buildChildPrograms(...names: readonly string[]): Promise<ChildPrograms> {
  const folder = await mkdtemp(join(tmpdir(), "oxbow-children-"));
  await symlink(MODULES, join(folder, "node_modules"));
  await build({
    entryPoints: names.map((name) => join(HERE, `${name}.child.ts`)),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    logLevel: "silent",
  });
  const fileOf = (name: string) => join(folder, `${name}.child.mjs`);
  return {
    start: (name, ...args) => run(process.execPath, [fileOf(name), ...args]),
    startAfter(preparation, name, ...args) {
      const script = `${preparation} && exec "$@"`;
      return run("bash", ["-c", script, "bash", process.execPath, fileOf(name), ...args]);
    },
    discard: () => rm(folder, { recursive: true }),
  };
}

function run(program: string, args: readonly string[]): RunningChild {
  const child = spawn(program, args);
  let out = "";
  let err = "";
  child.stdout.on("data", (data) => {
    out += data;
  });
  child.stderr.on("data", (data) => {
    err += data;
  });
  const end = new Promise<ChildEnd>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, out, err }));
  });
  return { process: child, out: () => out, end };
}
