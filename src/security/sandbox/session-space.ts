/**
 * Holds what all sandboxes of one session share: a `/tmp` on disk and a network with nothing but localhost.
 *
 * 1. `/tmp` is a private folder of this user, so that file tools and commands outside the sandbox reach it too. Its identity is
 *    recorded: what took its name is never mounted. It is removed with the session; a later start removes that of a killed process.
 * 2. A process that only waits holds the network. It sees no input, dies with Oxbow, and the kernel frees the network with it.
 * 3. A command joins the holder's namespaces before its own sandbox is made around it, so it gets no way to the holder.
 * 4. A command with a network of its own (allowed hosts, or an open one) shares only `/tmp`.
 * 5. A folder on which a view was mounted stays until the end, for other views. Each sandbox gets copies of what is mounted, and removing the folder
 *    would unmount those too, while a sandbox is made of them.
 * 6. Mounts below `/tmp` never rest on a name that a command could have replaced: the first folder of each is a mount of its own,
 *    which no command of the session can rename, and a command for which it is not a real folder gets a `/tmp` of its own.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { dirname, join } from "node:path";
import { identityOf } from "../../system/file-identity.js";
import { findProgram } from "../../system/find-program.js";
import { processMark } from "../../system/process-identity.js";
import { realpathSoFar } from "../../system/real-path.js";
import { makeTemporaryFolder } from "../../system/temporary-entries.js";
import { isWithin } from "../../system/within.js";
import { canNest, findUnshare } from "./detect.js";
import { SandboxError } from "./policy.js";
import { run } from "./run.js";
import { LOOPBACK } from "./unshare.js";

/** Says how a command joins. */
export interface JoinedSpace {
  /** In front of bubblewrap; empty where namespaces cannot be joined: each command then has a localhost of its own. */
  readonly words: readonly string[];
  /** What its `/tmp` is. */
  readonly temporary: string;
  /** Folders directly below `/tmp` that hold other mounts. */
  readonly stubs: readonly string[];
  /** For views of folders (overlay-view.ts); undefined where namespaces cannot be joined. */
  readonly mounting?: SpaceMounting | undefined;
}

/** A real folder, mounted where no program can put another one in its place. */
export interface FolderPin {
  readonly path: string;
  readonly identity: string;
  /** Where it is mounted, in the holder's namespaces. */
  readonly place: string;
}

export interface SpaceMounting {
  /** The words in front of a program that runs as root of the holder's namespaces, without the session's network. */
  readonly words: readonly string[];
  /** Where Oxbow sees the holder's files. */
  readonly root: string;
  /** Free of links. Throws if another folder takes its place meanwhile. */
  pin(path: string): Promise<FolderPin>;
  /** An empty folder on which something can be mounted. */
  takePoint(): string;
  /** What is mounted on them goes. */
  freePoints(points: readonly string[]): Promise<void>;
}

export interface JoinOptions {
  /** Undefined where util-linux makes the sandboxes. */
  readonly bubblewrap: string | undefined;
  /** Where programs are searched. */
  readonly path: string | undefined;
  readonly workspace: string;
  /** Places that are mounted for this command. */
  readonly mounts: readonly string[];
  readonly network: "shared" | "own";
  /** Oxbow's own folder for the sandbox. */
  readonly folder: string;
}

interface Holder {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly nsenter: string;
  /** By identity and path. */
  readonly pins: Map<string, Promise<FolderPin>>;
}

type Place = Pick<JoinOptions, "bubblewrap" | "path" | "workspace">;

/** In Oxbow's own folder for the sandbox. */
export const MOUNTED = "mounted";

export class SessionSpace {
  #holder: Promise<Holder | undefined> | undefined;
  #temporary: { readonly path: string; readonly identity: string } | undefined;
  #points: string | undefined;
  readonly #freePoints: string[] = [];
  #pointCount = 0;
  #isClosed = false;

  /** Undefined if the shared `/tmp` cannot be used: the command then has its own. */
  async join(options: JoinOptions): Promise<JoinedSpace | undefined> {
    const temporary = this.temporaryFolder();
    if (temporary === undefined) return undefined;
    const stubs = firstFolders(options.mounts);
    if (!stubs.every((name) => isRealFolder(join(temporary, name)))) return undefined;
    const joined = { temporary, stubs: stubs.map((name) => join("/tmp", name)) };
    const holder = await this.#hold(options);
    if (holder === undefined) return { ...joined, words: [] };
    const enter = [holder.nsenter, "--preserve-credentials", "-t", String(holder.pid), "-U", "-m"];
    return {
      ...joined,
      words: [...enter, ...(options.network === "shared" ? ["-n"] : []), "--"],
      mounting: this.#mounting([...enter, "--"], { holder, folder: options.folder }),
    };
  }

  /** The folder that commands see as `/tmp`, made at the first call; undefined if something else took its place, or after the end. */
  temporaryFolder(): string | undefined {
    if (this.#isClosed) return undefined;
    this.#temporary ??= makeFolder();
    const { path, identity } = this.#temporary;
    return identityOf(path) === identity ? path : undefined;
  }

  /** The process that holds the network, if a command has joined it. */
  async holder(): Promise<{ readonly pid: number; readonly nsenter: string } | undefined> {
    const holder = await this.#holder;
    return holder === undefined || hasEnded(holder.child) ? undefined : holder;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const holder = await this.#holder;
    if (holder !== undefined && !hasEnded(holder.child)) {
      const ended = new Promise((resolve) => holder.child.once("exit", resolve));
      // A program with nothing else to do would end here.
      holder.child.ref();
      // Bubblewrap ends with the process it waits for, and leaves no zombie.
      process.kill(holder.pid, "SIGKILL");
      await ended;
    }
    if (this.#points !== undefined) removeMountFolder(this.#points);
    if (this.#temporary !== undefined) await rm(dirname(this.#temporary.path), { recursive: true, force: true });
  }

  #mounting(words: readonly string[], { holder, folder }: { readonly holder: Holder; readonly folder: string }) {
    const takePoint = () => {
      const free = this.#freePoints.pop();
      if (free !== undefined) return free;
      this.#points ??= newOwnFolder(join(folder, MOUNTED));
      const point = join(this.#points, String(this.#pointCount++));
      mkdirSync(point, { mode: 0o700 });
      return point;
    };
    return {
      words,
      root: join("/proc", String(holder.pid), "root"),
      takePoint,
      freePoints: async (points: readonly string[]) => {
        const { failure } = await run([...words, "umount", "-l", ...points]);
        if (failure === undefined) this.#freePoints.push(...points);
      },
      pin: (path: string) => {
        const identity = folderIdentity(path);
        const key = `${identity} ${path}`;
        const pin = holder.pins.get(key) ?? pinned({ path, identity, place: takePoint() }, words);
        holder.pins.set(key, pin);
        pin.catch(() => holder.pins.delete(key));
        return pin;
      },
    };
  }

  async #hold(place: Place): Promise<Holder | undefined> {
    this.#holder ??= startHolder(place);
    const holder = await this.#holder;
    if (holder === undefined || !hasEnded(holder.child)) return holder;
    this.#holder = startHolder(place);
    return this.#holder;
  }
}

/** As open as programs expect of `/tmp`, in a folder that only this user may enter. */
function makeFolder(): { readonly path: string; readonly identity: string } {
  const path = join(realpathSoFar(makeTemporaryFolder("tmp")), "tmp");
  mkdirSync(path);
  chmodSync(path, 0o1777);
  return { path, identity: identityOf(path) };
}

async function startHolder({ bubblewrap, path, workspace }: Place): Promise<Holder | undefined> {
  const nsenter = findProgram("nsenter", path, { outside: workspace });
  const unshare = findProgram("unshare", path, { outside: workspace });
  const found = bubblewrap === undefined ? findUnshare({ path, workspace }) : undefined;
  if (nsenter === undefined || unshare === undefined) return undefined;
  if (bubblewrap === undefined ? found === undefined : !(await canNest(bubblewrap))) return undefined;
  const wait = "echo $$; read _";
  // Who joins is root of this namespace, and so may mount in it; the command's own sandbox makes it the user again.
  const [program = "", ...args] =
    found !== undefined
      ? [found.setpriv, "--pdeathsig", "KILL", found.program, ...ALONE, "/bin/sh", "-c", `${LOOPBACK}; ${wait}`]
      : [unshare, "--user", "--map-root-user", "--", bubblewrap ?? "", ...ALONE_IN_BUBBLEWRAP, "/bin/sh", "-c", wait];
  const child = spawn(program, args, { cwd: "/", env: {}, stdio: ["pipe", "pipe", "ignore"] });
  const pid = await firstNumber(child);
  // It keeps no program alive, and neither do its pipes.
  child.unref();
  child.stdout.destroy();
  (child.stdin as Socket).unref();
  return pid === undefined ? undefined : { child, pid, nsenter, pins: new Map() };
}

const ALONE = "--user --map-root-user --mount --net --".split(" ");
const ALONE_IN_BUBBLEWRAP = "--unshare-net --die-with-parent --cap-drop ALL --dev-bind / / --".split(" ");

/** As `stat` prints it. */
export function folderIdentity(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

const PIN = 'mount --bind "$1" "$2" && exec stat -c %d:%i "$2"';

async function pinned(pin: FolderPin, words: readonly string[]): Promise<FolderPin> {
  const { path, identity, place } = pin;
  const { failure, output } = await run([...words, "/bin/sh", "-c", PIN, "pin", path, place]);
  if (failure !== undefined) throw new SandboxError(`The folder ${path} cannot be mounted: ${failure}`);
  if (output !== identity) throw new SandboxError(`The folder ${path} was replaced meanwhile.`);
  return pin;
}

/** A new folder in Oxbow's own. It is named after this process, so that a later one knows whether it was abandoned. */
export function newOwnFolder(parent: string): string {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  return mkdtempSync(join(parent, `${processMark()}-`));
}

/** Never what is mounted there. */
export function removeMountFolder(place: string): void {
  try {
    for (const name of readdirSync(place)) rmdirSync(join(place, name));
    rmdirSync(place);
  } catch {
    // Another process was quicker.
  }
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
