/**
 * What all sandboxes of one session share: a `/tmp` in memory and a network with nothing but localhost.
 *
 * 1. A process that only waits holds both. It sees no input, dies with Oxbow, and the kernel frees both with it.
 * 2. A command joins the holder's namespaces before its own sandbox is made around it, so it gets no way to the holder.
 * 3. A command with a network of its own (allowed hosts, or an open one) shares only `/tmp`.
 * 4. Mounts below `/tmp` never rest on a name that a command could have replaced: the first folder of each is a mount of its own,
 *    which no command of the session can rename, and a command for which it is not a real folder gets a `/tmp` of its own.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { lstatSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../system/find-program.js";
import { makeTemporaryFolder } from "../../system/temporary-entries.js";
import { isWithin } from "../../system/within.js";
import { canNest } from "./detect.js";

/** How a command joins: the words in front of bubblewrap, and what its `/tmp` is. */
export interface JoinedSpace {
  readonly words: readonly string[];
  readonly temporary: string;
  /** Folders directly below `/tmp` that hold other mounts. */
  readonly stubs: readonly string[];
  /** For views of folders (overlay-view.ts); undefined where the holder cannot mount. */
  readonly mounting?: SpaceMounting | undefined;
}

export interface SpaceMounting {
  /** The words in front of a program that runs as root of the holder's namespaces, without the session's network. */
  readonly words: readonly string[];
  /** Where Oxbow sees the holder's files. */
  readonly root: string;
}

export interface JoinOptions {
  readonly bubblewrap: string;
  /** Where programs are searched. */
  readonly path: string | undefined;
  readonly workspace: string;
  readonly bytes: number;
  /** Places that are mounted for this command. */
  readonly mounts: readonly string[];
  readonly network: "shared" | "own";
}

interface Holder {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly nsenter: string;
  readonly folder: string;
  readonly mounts: boolean;
}

export class SessionSpace {
  #holder: Promise<Holder | undefined> | undefined;
  #isClosed = false;

  /** Undefined where namespaces cannot be joined: each command then has its own `/tmp` and localhost. */
  async join(options: JoinOptions): Promise<JoinedSpace | undefined> {
    if (this.#isClosed) return undefined;
    this.#holder ??= startHolder(options);
    let holder = await this.#holder;
    if (holder !== undefined && hasEnded(holder.child)) {
      removeFolder(holder);
      this.#holder = startHolder(options);
      holder = await this.#holder;
    }
    if (holder === undefined) return undefined;
    const stubs = firstFolders(options.mounts);
    const root = join("/proc", String(holder.pid), "root");
    if (!stubs.every((name) => isRealFolder(join(root, holder.folder, name)))) return undefined;
    const enter = [holder.nsenter, "--preserve-credentials", "-t", String(holder.pid), "-U", "-m"];
    return {
      words: [...enter, ...(options.network === "shared" ? ["-n"] : []), "--"],
      temporary: holder.folder,
      stubs: stubs.map((name) => join("/tmp", name)),
      mounting: holder.mounts ? { words: [...enter, "--"], root } : undefined,
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const holder = await this.#holder;
    if (holder === undefined) return;
    if (!hasEnded(holder.child)) {
      const ended = new Promise((resolve) => holder.child.once("exit", resolve));
      // A program with nothing else to do would end here.
      holder.child.ref();
      // Bubblewrap ends with the process it waits for, and leaves no zombie.
      process.kill(holder.pid, "SIGKILL");
      await ended;
    }
    removeFolder(holder);
  }
}

async function startHolder({ bubblewrap, path, workspace, bytes }: JoinOptions): Promise<Holder | undefined> {
  const nsenter = findProgram("nsenter", path, { outside: workspace });
  if (nsenter === undefined || !(await canNest(bubblewrap))) return undefined;
  const folder = makeTemporaryFolder("tmp");
  const mounts = ["--dev-bind", "/", "/", "--perms", "1777", "--size", String(bytes), "--tmpfs", folder];
  const options = [..."--unshare-net --die-with-parent --cap-drop ALL".split(" "), ...mounts];
  const wait = ["--", "/bin/sh", "-c", "echo $$; read _"];
  const unshare = findProgram("unshare", path, { outside: workspace });
  // Who joins is root of this namespace, and so may mount in it; the command's own sandbox makes it the user again.
  const asRoot = unshare && [unshare, "--user", "--map-root-user", "--", bubblewrap, ...options, ...wait];
  const plain = [bubblewrap, "--unshare-user", ...options, ...wait];
  for (const words of asRoot === undefined ? [plain] : [asRoot, plain]) {
    const [program = "", ...args] = words;
    const child = spawn(program, args, { cwd: "/", env: {}, stdio: ["pipe", "pipe", "ignore"] });
    child.unref();
    const pid = await firstNumber(child);
    if (pid !== undefined) return { child, pid, nsenter, folder, mounts: words !== plain };
  }
  rmSync(folder, { recursive: true, force: true });
  return undefined;
}

function firstNumber(child: ChildProcess): Promise<number | undefined> {
  return new Promise((resolve) => {
    let text = "";
    child.once("error", () => resolve(undefined));
    child.once("exit", () => resolve(undefined));
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.endsWith("\n")) resolve(Number.parseInt(text, 10) || undefined);
    });
  });
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function removeFolder({ folder }: Holder): void {
  rmSync(folder, { recursive: true, force: true });
}

function firstFolders(mounts: readonly string[]): readonly string[] {
  const below = mounts.filter((path) => path !== "/tmp" && isWithin(path, "/tmp"));
  return [...new Set(below.map((path) => path.split("/")[2] ?? ""))];
}

/** Makes it where it is missing. */
function isRealFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o755 });
    return true;
  } catch {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  }
}
