/** For tests: programs that are killed or run out of disk, and so run in processes of their own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = fileURLToPath(new URL(".", import.meta.url));

export interface ChildEnd {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunningChild {
  readonly process: ChildProcess;
  readonly end: Promise<ChildEnd>;
}

export interface ChildPrograms {
  start(name: string, ...args: readonly string[]): RunningChild;
  /** Where a program is, for those who start it in their own way. */
  path(name: string): string;
  discard(): Promise<void>;
}

export async function buildChildPrograms(...names: readonly string[]): Promise<ChildPrograms> {
  const folder = await mkdtemp(join(tmpdir(), "oxbow-children-"));
  await build({
    entryPoints: names.map((name) => join(HERE, `${name}.child.ts`)),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "silent",
  });
  const path = (name: string) => join(folder, `${name}.child.mjs`);
  return {
    path,
    start: (name, ...args) => follow(spawn(process.execPath, [path(name), ...args])),
    discard: () => rm(folder, { recursive: true }),
  };
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
  const end = new Promise<ChildEnd>((resolve) => child.on("close", (code) => resolve({ code, out, err })));
  return { process: child, end };
}
