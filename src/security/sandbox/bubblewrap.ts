/**
 * The command line that puts bubblewrap around a command.
 *
 * 1. Nothing of the environment is on the command line, where every process of the machine could read it: it is passed as
 *    the environment of bubblewrap itself.
 * 2. No capability is kept: as root with capabilities, the read-only mounts could be made writable from inside. And /proc is
 *    read-only: the kernel's settings in it belong to root whether it has capabilities or not.
 * 3. The order of the mounts matters: everything read-only, private folders (a home folder among them), writable folders,
 *    guarded places in them, hidden places, and last what stays visible.
 * 4. A shell is the first process of the sandbox's process namespace and the command its child. When the command ends, the shell
 *    ends, and the kernel kills the rest before bubblewrap returns. Bubblewrap's own
 *    first process would end only afterwards.
 * 5. Bubblewrap dies with Oxbow and the sandbox with bubblewrap.
 */
import { shellWord } from "../../base/shell-word.js";
import { isWithin } from "../../system/within.js";
import {
  AROUND_OPTIONS,
  forwarderStart,
  forwarderWait,
  type NetworkForwarding,
  proxyVariables,
} from "../allowed-hosts/network-forwarding.js";
import type { HiddenPlace, Layout } from "./layout.js";
import { limitLines } from "./limits.js";
import type { ViewedFolder } from "./overlay-view.js";
import { type Command, type PrivateHome, SandboxError, type SandboxPolicy } from "./policy.js";
import type { JoinedSpace } from "./session-space.js";
import { type UnshareParts, unshareWords } from "./unshare.js";

export interface BubblewrapProgram {
  readonly program: string;
  /** Two numbers, as in [0, 8]. */
  readonly version: readonly [number, number];
}

/** Folders that stand for the writable ones. */
export interface View {
  /** In front of the program that they are for. */
  readonly words: readonly string[];
  readonly folders: readonly ViewedFolder[];
}

export interface BubblewrapParts {
  /** Undefined where util-linux makes the sandbox (unshare.ts). */
  readonly bubblewrap: BubblewrapProgram | undefined;
  readonly unshare?: Pick<UnshareParts, "program" | "setpriv" | "folder"> | undefined;
  readonly policy: SandboxPolicy;
  readonly layout: Layout;
  /** An empty file. */
  readonly blank: string;
  /** A file that says why it covers a secret one. */
  readonly mask: string;
  /** A file; undefined if there is no filter for this machine. */
  readonly filter?: string | undefined;
  /** The proxy to the allowed hosts; without it there is no network. */
  readonly forwarding?: NetworkForwarding | undefined;
  /** What the session's commands share; without it each has its own. */
  readonly space?: JoinedSpace | undefined;
  /** What the command sees of the writable folders; without it the command writes into the real ones. */
  readonly view?: View | undefined;
  /** The entry of a group that bounds the number of processes. */
  readonly quotaEntry?: string | undefined;
  /** Processes that count towards the limit although they run outside. */
  readonly tasks: number;
  readonly isRoot: boolean;
  /** Folders below /run that programs are started from. */
  readonly runFolders: readonly string[];
}

export interface Wrapped {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

const SHELL = "/bin/sh";
const FILTER_DESCRIPTOR = 3;
const QUOTA_INSIDE = "/run/oxbow-quota";
const SMALL_BYTES = 16 * 1024 * 1024;

export function bubblewrapCommand(parts: BubblewrapParts, command: Command): Wrapped {
  const inside = [SHELL, "-c", firstProcess(parts, command.mark), "sandbox", command.program, ...command.args];
  const [program = "", ...args] = [
    ...openingWords(parts.filter),
    ...(parts.space?.words ?? []),
    ...(parts.view?.words ?? []),
    ...networkAround(parts),
    ...sandboxWords(parts, command),
    ...inside,
  ];
  return { program, args, cwd: command.cwd, env: environment(parts, command.env) };
}

function sandboxWords(parts: BubblewrapParts, command: Command): readonly string[] {
  const { bubblewrap, unshare } = parts;
  const mounts = mountWords(parts, command);
  if (bubblewrap === undefined) {
    if (unshare === undefined) throw new SandboxError("There is nothing that could make the sandbox.");
    const network = hasOwnNetwork(parts) ? "own" : "outer";
    return unshareWords({ ...unshare, network, mounts, covers: [parts.blank, parts.mask], cwd: command.cwd });
  }
  const words = [...flags(parts, bubblewrap), ...mounts, "--chdir", command.cwd];
  return [bubblewrap.program, ...(isSince(bubblewrap, [0, 7]) ? words : withoutSizes(words)), "--"];
}

/** A shell that becomes bubblewrap and opens the filter for it: bubblewrap reads it from an open file. */
function openingWords(filter: string | undefined): string[] {
  if (filter === undefined) return [];
  return [SHELL, "-c", `exec ${FILTER_DESCRIPTOR}<"$1"\nshift\nexec "$@"`, "sandbox", filter];
}

/** A bubblewrap with the forwarder in it, which becomes the real one. */
function networkAround({ bubblewrap, forwarding }: BubblewrapParts): string[] {
  if (forwarding?.place !== "around" || bubblewrap === undefined) return [];
  const script = `${forwarderStart(forwarding)}\nexec "$@"`;
  return [bubblewrap.program, ...AROUND_OPTIONS, "--", SHELL, "-c", script, "sandbox"];
}

/** Discards bubblewrap's own messages about the exit of the command; the command keeps its stderr. */
function firstProcess({ policy, tasks, forwarding, quotaEntry }: BubblewrapParts, mark: string | undefined): string {
  return [
    ...(quotaEntry === undefined ? [] : [`echo 0 >${QUOTA_INSIDE} || exit 126`]),
    ...limitLines(policy.limits, { tasks }),
    ...(forwarding?.place === "within" ? [forwarderStart(forwarding)] : []),
    ...(forwarding === undefined ? [] : forwarderWait(forwarding)),
    "exec 9>&2 2>/dev/null",
    '( exec "$@" 2>&9 9>&- )',
    ...(mark === undefined || forwarding?.place === "within" ? ["exit $?"] : countLeftovers(mark)),
  ].join("\n");
}

/** Prints the mark, with the number of processes that still run and end with this shell. A program that has ended has no `exe`. */
function countLeftovers(mark: string): readonly string[] {
  return [
    "status=$?",
    "left=0",
    'for each in /proc/[1-9]*; do [ "$each" = "/proc/$$" ] || { [ -e "$each/exe" ] && left=$((left + 1)); }; done',
    `[ "$left" = 0 ] || printf '%s:%s:' ${shellWord(mark)} "$left"`,
    'exit "$status"',
  ];
}

/** Older versions cannot limit the size of a folder in memory; the kernel's limit applies: half of the memory. */
function withoutSizes(words: readonly string[]): string[] {
  return words.filter((word, index) => word !== "--size" && words[index - 1] !== "--size");
}

function isSince({ version }: BubblewrapProgram, [major, minor]: readonly [number, number]): boolean {
  return version[0] > major || (version[0] === major && version[1] >= minor);
}

function writableFolders({ view, layout }: BubblewrapParts, { writes }: Pick<Command, "writes">): readonly string[] {
  const access = writes === "nothing" ? "read-only" : "writable";
  const folders = view?.folders ?? layout.writable.map((path) => ({ path, merged: path, access }));
  return folders.flatMap((each) => [each.access === "writable" ? "--bind" : "--ro-bind", each.merged, each.path]);
}

function hasOwnNetwork({ policy, forwarding, space }: BubblewrapParts): boolean {
  return policy.network !== "open" && forwarding?.place !== "around" && !sharesNetwork({ policy, space });
}

function flags(parts: BubblewrapParts, bubblewrap: BubblewrapProgram): readonly string[] {
  return [
    ..."--unshare-user --unshare-pid --unshare-ipc --as-pid-1 --die-with-parent --cap-drop ALL".split(" "),
    ...(parts.space?.mounting === undefined ? [] : asUser()),
    ...(hasOwnNetwork(parts) ? ["--unshare-net"] : []),
    ...filterOptions(parts, bubblewrap),
  ];
}

function mountWords(parts: BubblewrapParts, place: Pick<Command, "writes">): string[] {
  const { layout, policy, forwarding, runFolders, blank, mask, quotaEntry, space } = parts;
  const { home, caches } = layout;
  const hidden = layout.hidden.filter(({ path }) => !isPrivate(path, layout.writable));
  const { pinned, readOnly } = layout.guards;
  return [
    ..."--ro-bind / / --dev /dev --proc /proc --remount-ro /proc".split(" "),
    ...(space === undefined ? inMemory("/tmp", policy) : ["--bind", space.temporary, "/tmp"]),
    ...(space?.stubs ?? []).flatMap((path) => tmpfs(path, { mode: "0755", bytes: SMALL_BYTES })),
    ...inMemory("/dev/shm", policy),
    ...tmpfs("/run", { mode: "0755", bytes: SMALL_BYTES }),
    ...runFolders.flatMap((path) => ["--ro-bind", path, path]),
    ...layout.covering.flatMap((place) => hide(place, blank)),
    ...(home === undefined ? [] : privateHome(home, policy.temporaryBytes)),
    ...writableFolders(parts, place),
    ...pinned.flatMap((path) => ["--bind", path, path]),
    ...readOnly.flatMap((path) => ["--ro-bind", path, path]),
    ...layout.masked.flatMap(({ path, kind }) =>
      kind === "file" ? ["--ro-bind", mask, path] : tmpfs(path, { mode: "0555", bytes: SMALL_BYTES }),
    ),
    ...hidden.flatMap((place) => hide(place, blank)),
    ...layout.visible.flatMap((path) => ["--ro-bind", path, path]),
    ...(caches === undefined ? [] : ["--bind", caches.cache, caches.cache]),
    ...(forwarding?.place === "within" ? ["--ro-bind", forwarding.folder, forwarding.inside] : []),
    // A process in the group can use this file to enter it again, but not to leave it.
    ...(quotaEntry === undefined ? [] : ["--bind", quotaEntry, QUOTA_INSIDE]),
  ];
}

/** In the namespaces of the session's holder, Oxbow's user is root. */
function asUser(): string[] {
  return ["--uid", String(process.getuid?.() ?? 0), "--gid", String(process.getgid?.() ?? 0)];
}

/** Without the filter, options prevent pushed keystrokes and further user namespaces. */
function filterOptions({ filter }: BubblewrapParts, bubblewrap: BubblewrapProgram): string[] {
  if (filter !== undefined) return ["--seccomp", String(FILTER_DESCRIPTOR)];
  return isSince(bubblewrap, [0, 8]) ? ["--new-session", "--disable-userns"] : ["--new-session"];
}

function tmpfs(path: string, { mode, bytes }: { readonly mode: string; readonly bytes: number }): string[] {
  return ["--perms", mode, "--size", String(bytes), "--tmpfs", path];
}

function inMemory(path: string, { temporaryBytes }: SandboxPolicy): string[] {
  return tmpfs(path, { mode: "1777", bytes: temporaryBytes });
}

/** A proxy must not listen in a network that other commands share. */
function sharesNetwork({ policy, space }: Pick<BubblewrapParts, "policy" | "space">): boolean {
  return policy.network === "off" && space !== undefined && space.words.length > 0;
}

/** All mounts lie on folders that the new home has just been given: none on one that an earlier command could replace. */
function privateHome({ path, readable, cached }: PrivateHome, bytes: number): string[] {
  return [
    ...tmpfs(path, { mode: "0755", bytes }),
    ...Object.entries(readable).flatMap(([place, source]) => ["--ro-bind", source, place]),
    ...Object.entries(cached).flatMap(([place, folder]) => ["--bind", folder, place]),
  ];
}

function hide({ path, kind, passable }: HiddenPlace, blank: string): string[] {
  if (kind === "file") return ["--ro-bind", blank, path];
  return tmpfs(path, { mode: passable ? "0111" : "0000", bytes: SMALL_BYTES });
}

/** Hidden anyway, because the sandbox has its own folder there. */
function isPrivate(path: string, writable: readonly string[]): boolean {
  const hasOwn = ["/tmp", "/run", "/dev", "/proc"].some((folder) => isWithin(path, folder));
  return hasOwn && !writable.some((folder) => isWithin(path, folder));
}

function environment({ forwarding, isRoot, layout }: BubblewrapParts, given: Readonly<Record<string, string>>) {
  const { TMP: _, TEMP: __, ...rest } = given;
  return {
    ...rest,
    TMPDIR: "/tmp",
    // The usual place is read-only, and Go does not build without one.
    GOCACHE: "/tmp/go-build",
    ...layout.caches?.environment,
    // In a user namespace with one user, root cannot create files that belong to others.
    ...(isRoot ? { TAR_OPTIONS: "--no-same-owner" } : {}),
    ...(forwarding === undefined ? {} : proxyVariables(forwarding.port)),
  };
}
