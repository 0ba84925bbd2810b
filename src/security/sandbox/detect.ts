/**
 * Finds the sandbox of this machine by running something in it: programs that are installed need not work, because user
 * namespaces may be forbidden (Ubuntu's AppArmor rules, containers, hardened kernels).
 *
 * 1. Nothing is run before the first command needs it.
 * 2. A sandbox that worked is tried again only when its program file changes. One that did not work is tried again in the next session: it
 *    may have been repaired.
 */
import { mkdirSync, statSync } from "node:fs";
import { SYSTEM_PATH } from "../../base/system-path.js";
import { findProgram } from "../../system/find-program.js";
import { textAt } from "../../system/names-in.js";
import { AROUND_OPTIONS } from "../allowed-hosts/network-forwarding.js";
import { detectContainer } from "../container/detect-container.js";
import { type BubblewrapParts, bubblewrapCommand, type Wrapped } from "./bubblewrap.js";
import type { Layout } from "./layout.js";
import { countTasks } from "./limits.js";
import { type LimitName, sandboxPolicy } from "./policy.js";
import { openProcessQuota } from "./process-quota.js";
import { run } from "./run.js";
import { SANDBOX_EXEC, sandboxExecCommand } from "./sandbox-exec.js";
import { type SandboxFiles, sandboxFiles } from "./sandbox-files.js";
import { noSandbox, type SandboxState } from "./state.js";
import { UTIL_LINUX } from "./unshare.js";

/** The user's settings. */
export interface SandboxOverrides {
  /** `auto` uses the system's sandbox; only the user can choose `off`. */
  readonly kind?: "auto" | "container" | "off";
  readonly container?: { readonly program?: string; readonly image: string };
}

export interface DetectOptions {
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  readonly path: string | undefined;
  readonly overrides?: SandboxOverrides;
  /** Oxbow's own folder for the sandbox: its files. */
  readonly folder: string;
  /** Programs in it are not trusted. */
  readonly workspace: string;
  /** Finds bubblewrap; default: on the path, then on the system's. */
  readonly findBubblewrap?: () => string | undefined;
}

const ALL_LIMITS: readonly LimitName[] = ["processes", "memoryBytes", "fileSizeBytes", "cpuSeconds", "openFiles"];
/** Those that worked in this process, by their program. */
const WORKING = new Map<string, SandboxState>();

export async function detectSandbox(options: DetectOptions): Promise<SandboxState> {
  const { platform, overrides = {} } = options;
  if (overrides.kind === "off") return noSandbox("the configuration turns it off.");
  if (overrides.kind === "container") return await detectContainer(options, ALL_LIMITS);
  if (platform === "linux") return await detectLinux(options);
  if (platform === "darwin") return await detectSandboxExec(options);
  return noSandbox(`there is none for ${platform}. Configure a container, or work in WSL or a virtual machine.`);
}

/* ---- Linux ---- */

/** With bubblewrap, or with util-linux where that is missing. */
async function detectLinux(options: DetectOptions): Promise<SandboxState> {
  const { folder, architecture } = options;
  const bubblewrap = findBubblewrap(options);
  const unshare = bubblewrap === undefined ? findUnshare(options) : undefined;
  const program = bubblewrap ?? unshare?.program;
  if (program === undefined) return noSandbox(`bubblewrap and util-linux are not installed. ${INSTALL}`);
  const files = sandboxFiles(folder, architecture);
  const known = WORKING.get(keyOf(program));
  if (known !== undefined) return known;
  const version = bubblewrap && (await bubblewrapVersion(bubblewrap));
  const numbers = parseVersion(version ?? "");
  if (bubblewrap !== undefined) {
    if (version === undefined) return noSandbox(`${program} does not report its version. Install bubblewrap again.`);
    if (numbers[0] === 0 && numbers[1] < 5) return noSandbox(`bubblewrap ${version} is too old. Install 0.5 or newer.`);
  }
  const maker = {
    bubblewrap: bubblewrap === undefined ? undefined : { program: bubblewrap, version: numbers },
    unshare: unshare && { ...unshare, folder },
  };
  const failure = await probe(linuxProbe(maker, files, folder));
  if (failure !== undefined)
    return noSandbox(bubblewrap === undefined ? unshareAdvice(failure) : bubblewrapAdvice(failure));
  const reason =
    bubblewrap === undefined
      ? "bubblewrap is not installed; util-linux makes the sandbox, without a system-call filter"
      : "found and tested";
  const abilities = { filesystem: true, network: "allowlist", pids: true, limits: linuxLimits() } as const;
  const kind = bubblewrap === undefined ? "unshare" : "bubblewrap";
  const state: SandboxState = { kind, program, ...(version !== undefined && { version }), reason, abilities };
  WORKING.set(keyOf(program), state);
  return state;
}

function keyOf(program: string): string {
  const { mtimeMs, size, mode } = statSync(program);
  return [program, mtimeMs, size, mode].join(" ");
}

function findBubblewrap({ path, workspace, findBubblewrap }: DetectOptions): string | undefined {
  if (findBubblewrap !== undefined) return findBubblewrap();
  const outside = { outside: workspace };
  return findProgram("bwrap", path, outside) ?? findProgram("bwrap", SYSTEM_PATH, outside);
}

const INSTALL = "Install bubblewrap (apt, dnf, pacman or apk: the package bubblewrap).";

/** Finds what makes the sandbox where bubblewrap is missing; undefined without util-linux. */
export function findUnshare({ path, workspace }: Pick<DetectOptions, "path" | "workspace">) {
  const find = (name: string) => {
    const outside = { outside: workspace };
    return findProgram(name, SYSTEM_PATH, outside) ?? findProgram(name, path, outside);
  };
  const [program, setpriv] = [find("unshare"), find("setpriv")];
  const isWhole = UTIL_LINUX.every((name) => findProgram(name, SYSTEM_PATH, { outside: workspace }) !== undefined);
  return program === undefined || setpriv === undefined || !isWhole ? undefined : { program, setpriv };
}

function unshareAdvice(failure: string): string {
  const isRestricted = textAt("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").trim() === "1";
  const advice = isRestricted
    ? `AppArmor does not let unshare create user namespaces. ${INSTALL} Its AppArmor profile is in the package apparmor-profiles: bwrap-userns-restrict.`
    : `a sandbox made with util-linux does not work here. ${INSTALL}`;
  return `bubblewrap is not installed, and ${advice} (${lastLineOf(failure)})`;
}

function lastLineOf(failure: string): string {
  return failure.trim().split("\n").at(-1) || "no message";
}

export function parseVersion(version: string): readonly [number, number] {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? [];
  return [Number(major ?? 0), Number(minor ?? 0)];
}

async function bubblewrapVersion(program: string): Promise<string | undefined> {
  const { said } = await run([program, "--version"]);
  return /\d+\.\d+(\.\d+)?/.exec(said)?.[0];
}

/** Tells whether one bubblewrap can start another: some systems allow only the first one to make namespaces. */
export async function canNest(program: string): Promise<boolean> {
  const inner = "--unshare-user --unshare-pid --ro-bind / / --proc /proc --dev /dev -- /bin/sh -c true".split(" ");
  return (await run([program, ...AROUND_OPTIONS, "--", program, ...inner])).failure === undefined;
}

const EMPTY_LAYOUT: Omit<Layout, "writable"> = {
  guards: { pinned: [], readOnly: [] },
  covering: [],
  hidden: [],
  visible: [],
  masked: [],
};

function linuxProbe(maker: Pick<BubblewrapParts, "bubblewrap" | "unshare">, files: SandboxFiles, folder: string) {
  const parts = {
    ...maker,
    ...{ blank: files.blank, mask: files.mask, tasks: countTasks(), isRoot: isRoot(), runFolders: [] },
    filter: maker.bubblewrap && files.filters?.off,
    policy: sandboxPolicy({ writable: [folder] }),
    layout: { ...EMPTY_LAYOUT, writable: [folder] },
  };
  return bubblewrapCommand(parts, { program: "/bin/sh", args: ["-c", ":"], cwd: "/", env: {} });
}

function linuxLimits(): readonly LimitName[] {
  if (!isRoot()) return ALL_LIMITS;
  const quota = openProcessQuota({ processes: 1, name: `probe-${process.pid}` });
  quota?.close();
  return quota === undefined ? ALL_LIMITS.filter((name) => name !== "processes") : ALL_LIMITS;
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

const ADVICE: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [
    /uid map: Permission denied|RTM_NEWADDR: Operation not permitted/,
    "this system does not let programs create user namespaces. On Ubuntu, install the AppArmor profile of bubblewrap (the package apparmor-profiles: bwrap-userns-restrict). In a container, start the container with more privileges.",
  ],
  [
    /No permissions to creat|namespace failed|max_user_namespaces|Operation not permitted/,
    "this system forbids user namespaces, as most containers do. Start the container with more privileges, or use a virtual machine.",
  ],
  [/setuid use of bubblewrap is not supported/, "bwrap must not be setuid. Remove the bit: chmod u-s."],
];

function bubblewrapAdvice(failure: string): string {
  const advice = ADVICE.find(([pattern]) => pattern.test(failure))?.[1] ?? "it does not work on this machine.";
  return `bubblewrap is installed, but ${advice} (${lastLineOf(failure)})`;
}

/* ---- macOS ---- */

async function detectSandboxExec({ folder }: DetectOptions): Promise<SandboxState> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const parts = {
    ...{ program: SANDBOX_EXEC, temporaryFolder: folder, policy: sandboxPolicy({ writable: [folder] }) },
    layout: { ...EMPTY_LAYOUT, writable: [folder] },
  };
  const command = { program: "/usr/bin/true", args: [], cwd: "/", env: {} };
  const failure = await probe(sandboxExecCommand(parts, command));
  if (failure !== undefined) return noSandbox(`sandbox-exec does not work on this machine. (${failure.trim()})`);
  return {
    kind: "sandbox-exec",
    program: SANDBOX_EXEC,
    reason: "part of macOS",
    abilities: { filesystem: true, network: "allowlist", pids: false, limits: ALL_LIMITS },
  };
}

/** Its message when it failed. */
async function probe({ program, args, cwd, env }: Wrapped): Promise<string | undefined> {
  const { failure, said } = await run([program, ...args], { cwd, env });
  return failure && said;
}
