/** The files a sandbox is made with, in a folder of Oxbow's own: an empty file to lay over hidden ones, and the filter. */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seccompFilter } from "./seccomp-filter.js";

export interface SandboxFiles {
  readonly blank: string;
  /** Undefined on architectures there is no filter for. */
  readonly filter: string | undefined;
}

export function sandboxFiles(folder: string, architecture: string): SandboxFiles {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const filter = seccompFilter(architecture);
  return {
    blank: keep(join(folder, "blank"), new Uint8Array()),
    filter: filter === undefined ? undefined : keep(join(folder, `filter-${architecture}.bpf`), filter),
  };
}

/** Written again only when it differs, and in one step: another Oxbow may be using it. */
function keep(path: string, bytes: Uint8Array): string {
  if (holds(path, bytes)) return path;
  const fresh = `${path}.${process.pid}.tmp`;
  writeFileSync(fresh, bytes, { mode: 0o600 });
  chmodSync(fresh, 0o444);
  renameSync(fresh, path);
  return path;
}

function holds(path: string, bytes: Uint8Array): boolean {
  try {
    return Buffer.compare(readFileSync(path), bytes) === 0;
  } catch {
    return false;
  }
}
