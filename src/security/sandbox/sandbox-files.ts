/** The files a sandbox is made with, in a folder of Oxbow's own: what covers hidden and masked files, and the filters. */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seccompFilter, type UnixSockets } from "./seccomp-filter.js";

export interface SandboxFiles {
  readonly blank: string;
  /** Covers a secret file of the workspace. */
  readonly mask: string;
  /** One without Unix sockets and one with them; undefined on architectures there is no filter for. */
  readonly filters: Readonly<Record<UnixSockets, string>> | undefined;
}

/** A comment in environment files and in most formats of settings, so that programs start without the values. */
const MASK = `# Oxbow hides this file from commands that run without asking, because it can hold secrets.
# To use it, run the command with allow = secrets, which asks the user.
`;

export function sandboxFiles(folder: string, architecture: string): SandboxFiles {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = (unixSockets: UnixSockets): string | undefined => {
    const filter = seccompFilter(architecture, unixSockets);
    const name = `filter-${architecture}${unixSockets === "on" ? "-unix" : ""}.bpf`;
    return filter && keep(join(folder, name), filter);
  };
  const off = file("off");
  const on = file("on");
  const filters = off === undefined || on === undefined ? undefined : { off, on };
  const blank = keep(join(folder, "blank"), new Uint8Array());
  return { blank, mask: keep(join(folder, "mask"), Buffer.from(MASK)), filters };
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
