/**
 * A sandbox for a program that only reads (git, for the tool of that name): it sees the system's programs and the folders that it is
 * given, all read-only. Nothing else of the disk is visible, and there is no network.
 *
 * Only bubblewrap can do that here. Where it cannot, or where the program does not start in it, there is no reader.
 */
import { spawnSync } from "node:child_process";
import { closeSync, lstatSync, openSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { realpathOrSelf } from "../../system/real-path.js";
import { isWithin } from "../../system/within.js";
import { FILTER_DESCRIPTOR, type Wrapped } from "./bubblewrap.js";
import { parseVersion } from "./detect.js";
import { existingSecrets, type Hidden } from "./hidden-paths.js";
import type { Command } from "./policy.js";
import { type SandboxFiles, sandboxFiles } from "./sandbox-files.js";
import type { SandboxState } from "./state.js";

export interface ReaderOptions {
  readonly state: SandboxState;
  /** Where the sandbox keeps its files. */
  readonly folder: string;
  readonly architecture: string;
  /** What may not be read although it lies in a readable folder. */
  readonly hidden: () => readonly string[];
}

export interface ReaderCommand extends Wrapped {
  readonly descriptors: readonly number[];
  ended(): Promise<void>;
}

const SYSTEM = [
  ..."/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store /gnu/store".split(" "),
  ..."/etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/ld.so.preload /etc/alternatives /etc/localtime".split(
    " ",
  ),
];
const PROGRAM_FOLDERS = ["bin", "libexec", "lib", "lib64", "share"];
const PROBE_MS = 5000;

export class ReaderSandbox {
  readonly #options: ReaderOptions;
  readonly #files: SandboxFiles;
  readonly #works = new Map<string, boolean>();

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#files = sandboxFiles(options.folder, options.architecture);
  }

  /** Undefined where the program cannot run in it. `readable` must be free of links. */
  wrap(command: Command, readable: readonly string[]): ReaderCommand | undefined {
    if (this.#options.state.kind !== "bubblewrap" || !this.#canRun(command)) return undefined;
    const descriptors = this.#descriptors();
    const ended = () => {
      for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
      return Promise.resolve();
    };
    return { ...this.#wrapped(command, readable), descriptors, ended };
  }

  #canRun(command: Command): boolean {
    const known = this.#works.get(command.program);
    if (known !== undefined) return known;
    const descriptors = this.#descriptors();
    const { program, args, env } = this.#wrapped({ ...command, args: ["--version"], cwd: "/" }, []);
    const { status } = spawnSync(program, args, {
      env,
      timeout: PROBE_MS,
      stdio: ["ignore", "ignore", "ignore", ...descriptors],
    });
    for (const descriptor of descriptors) closeSync(descriptor);
    this.#works.set(command.program, status === 0);
    return status === 0;
  }

  #descriptors(): number[] {
    return this.#files.filters === undefined ? [] : [openSync(this.#files.filters.off, "r")];
  }

  #wrapped(command: Command, readable: readonly string[]): Wrapped {
    const { state, hidden } = this.#options;
    const [major, minor] = parseVersion(state.version ?? "");
    const canDisable = major > 0 || minor >= 8;
    const secrets = existingSecrets(hidden()).filter(({ path }) => isInner(path, readable));
    return {
      program: state.program ?? "",
      args: [
        ..."--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --die-with-parent --cap-drop ALL".split(
          " ",
        ),
        ...(this.#files.filters === undefined
          ? ["--new-session", ...(canDisable ? ["--disable-userns"] : [])]
          : ["--seccomp", String(FILTER_DESCRIPTOR)]),
        ...[...SYSTEM, ...programFolders(command.program)].flatMap(systemPlace),
        ..."--dev /dev --tmpfs /tmp".split(" "),
        ...[...readable].sort().flatMap((path) => ["--ro-bind", path, path]),
        ...secrets.flatMap((place) => this.#hide(place)),
        ...["--remount-ro", "/", "--chdir", command.cwd, "--", command.program, ...command.args],
      ],
      cwd: "/",
      env: command.env,
    };
  }

  #hide({ path, kind }: Hidden): string[] {
    return kind === "file" ? ["--ro-bind", this.#files.blank, path] : ["--perms", "0000", "--tmpfs", path];
  }
}

/** In a readable folder, and not around another one. */
function isInner(path: string, readable: readonly string[]): boolean {
  return readable.some((folder) => isWithin(path, folder)) && !readable.some((folder) => isWithin(folder, path));
}

/** For a program outside the system folders: the folders with its other parts. */
function programFolders(program: string): readonly string[] {
  return [...new Set([program, realpathOrSelf(program)])]
    .filter((file) => !SYSTEM.some((folder) => isWithin(file, folder)))
    .flatMap((file) => PROGRAM_FOLDERS.map((name) => join(dirname(dirname(file)), name)));
}

/** On most systems `/bin` is a link into `/usr`. */
function systemPlace(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}
