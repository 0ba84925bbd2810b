/**
 * A container of namespaces for commands that must not run on a real machine: another user, no network, few processes, and a
 * separate root folder in which everything except the system's programs is test data.
 */
import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";

const USER = 54_321;
const PROCESSES = 400;

export interface ThrowAwayOptions {
  /** An empty folder, which becomes the root folder's contents. */
  readonly folder: string;
  /** A TypeScript file, run by Node with everything that it imports. */
  readonly program: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Each line of what the program prints. */
export async function* runThrownAway({ folder, program, files }: ThrowAwayOptions): AsyncGenerator<string> {
  await build({
    entryPoints: [program],
    outfile: join(folder, "driver.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    loader: { ".md": "text", ".toml": "text", ".txt": "text" },
    external: ["@lydell/node-pty", "better-sqlite3*", "ws"],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: "error",
  });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  for (const name of ["passwd", "group", "hosts", "nsswitch.conf", "ld.so.cache", "alternatives", "profile"]) {
    if (existsSync(join("/etc", name)))
      cpSync(join("/etc", name), join(folder, "etc", name), { recursive: true, verbatimSymlinks: true });
  }
  own(folder);
  chmodSync(folder, 0o755);
  const child = spawn("prlimit", [`--nproc=${PROCESSES}`, ...words(folder)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {},
  });
  yield* createInterface({ input: child.stdout });
}

function words(folder: string): string[] {
  const entries = readdirSync(folder).flatMap((name) => ["--bind", join(folder, name), `/${name}`]);
  const system = ["bin", "sbin", "lib", "lib64", "lib32"].flatMap((name) => {
    const found = lstatSync(`/${name}`, { throwIfNoEntry: false });
    if (found === undefined) return [];
    return found.isSymbolicLink()
      ? ["--symlink", readlinkSync(`/${name}`), `/${name}`]
      : ["--ro-bind", `/${name}`, `/${name}`];
  });
  return [
    ..."setpriv --reuid".split(" "),
    String(USER),
    "--regid",
    String(USER),
    ..."--clear-groups bwrap --unshare-all --die-with-parent --uid 1000 --gid 1000 --hostname thrown-away".split(" "),
    ...[
      "--ro-bind",
      "/usr",
      "/usr",
      ...system,
      "--proc",
      "/proc",
      "--dev",
      "/dev",
      "--tmpfs",
      "/tmp",
      "--tmpfs",
      "/run",
    ],
    ...entries,
    ...["--chdir", "/", "--", process.execPath, "/driver.mjs"],
  ];
}

function own(path: string): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  chownSync(path, USER, USER);
  if (stat.isDirectory()) for (const name of readdirSync(path)) own(join(path, name));
}
