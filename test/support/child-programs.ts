/**
 * Programs that are killed, abort or run out of disk, and therefore run in separate processes: `test-support/NAME.child.ts` beside a
 * test.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const MODULES = fileURLToPath(new URL("../../node_modules", import.meta.url));

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
  /** Finds where a program is, for a test that starts it in its own way. */
  path(name: string): string;
  discard(): Promise<void>;
}

/** `test` is the address of the test, `import.meta.url`. */
export async function buildChildPrograms(test: string, ...names: readonly string[]): Promise<ChildPrograms> {
  const here = fileURLToPath(new URL("test-support", test));
  const folder = await mkdtemp(join(tmpdir(), "oxbow-children-"));
  await symlink(MODULES, join(folder, "node_modules"));
  await build({
    entryPoints: names.map((name) => join(here, `${name}.child.ts`)),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    loader: { ".md": "text", ".toml": "text" },
    logLevel: "silent",
  });
  const path = (name: string) => join(folder, `${name}.child.mjs`);
  return {
    path,
    start: (name, ...args) => run(process.execPath, [path(name), ...args]),
    startAfter(preparation, name, ...args) {
      const script = `${preparation} && exec "$@"`;
      return run("bash", ["-c", script, "bash", process.execPath, path(name), ...args]);
    },
    discard: () => rm(folder, { recursive: true }),
  };
}

function run(program: string, args: readonly string[]): RunningChild {
  return follow(spawn(program, args));
}

export function follow(child: ChildProcess): RunningChild {
  let out = "";
  let err = "";
  child.stdout?.on("data", (data) => {
    out += data;
  });
  child.stderr?.on("data", (data) => {
    err += data;
  });
  const end = new Promise<ChildEnd>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, out, err }));
  });
  return { process: child, out: () => out, end };
}
