/** Describes what a sandboxed command may do. Plain data from the user's configuration, never from the model. */
import { totalmem } from "node:os";
import type { LiveFolders } from "./live-folders.js";
import type { UnixSockets } from "./seccomp-filter.js";

/**
 * `open`: the network of this machine, for a command that the user allowed. Otherwise host names (`example.com`,
 * `*.example.com`, either with `:port`) that may be reached through the local proxy.
 */
export type NetworkPolicy = "off" | "open" | { readonly allow: readonly string[] };

/** Where build tools keep what they download and make. */
export interface OwnCaches {
  /** A folder of Oxbow's that this workspace's commands may change. */
  readonly cache: string;
  /** Variables that lead build tools there. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The sandbox's own home folder: empty, writable, deleted after the command, except the entries here. */
export interface PrivateHome extends OwnCaches {
  /** Where it lies: the person's own home folder, which it covers. */
  readonly path: string;
  /** What can be read in it (the names) and where it really lies: tool chains, and what was downloaded for them. */
  readonly readable: Readonly<Record<string, string>>;
  /** What can be changed in it (the names) and where that lies: not in a folder that a command can change otherwise. */
  readonly cached: Readonly<Record<string, string>>;
}

export interface SandboxLimits {
  /** Processes and threads at one time. */
  readonly processes?: number;
  /** Memory one process may claim. */
  readonly memoryBytes?: number;
  /** The largest file a process may write. */
  readonly fileSizeBytes?: number;
  /** Processor time of one process. */
  readonly cpuSeconds?: number;
  readonly openFiles?: number;
}

export type LimitName = keyof SandboxLimits;

export interface SandboxPolicy {
  /** Folders that may be changed, the workspace first: absolute and free of symbolic links. */
  readonly writable: readonly string[];
  /** The part of them that also programs which go on running may change. */
  readonly liveWritable: readonly string[];
  /** Names in those folders, or absolute paths, that may not be changed, as far as they exist. */
  readonly readOnlyWithin: readonly string[];
  /** Files and folders that may not even be read; those that do not exist are skipped. */
  readonly hidden: readonly string[];
  /** What stays readable although it lies in a hidden folder. */
  readonly visible: readonly string[];
  readonly network: NetworkPolicy;
  /** Named Unix sockets: with them a command reaches every program that listens in a folder it can see. */
  readonly unixSockets: UnixSockets;
  /** `guarded`: only what git runs or obeys is read-only in a repository. `read-only`: all that belongs to git is. */
  readonly repositories: "guarded" | "read-only";
  /** `masked`: commands see a note instead of the secret files of the workspace (`secret-files.ts`). */
  readonly secrets: "shown" | "masked";
  /** Without it the user's own home folder is readable, except its hidden places. */
  readonly home?: PrivateHome;
  /** Where the home folder of the user is readable: it cannot be changed, and build tools need caches. */
  readonly caches?: OwnCaches;
  readonly limits: SandboxLimits;
  /** Room in the private `/tmp`, which counts as memory. */
  readonly temporaryBytes: number;
}

const GIB = 1024 ** 3;

/** Wide enough for builds and test runs, narrow enough that the machine stays usable. */
const DEFAULT_LIMITS: SandboxLimits = {
  processes: 2048,
  memoryBytes: Math.max(GIB, Math.floor(totalmem() * 0.75)),
  fileSizeBytes: 8 * GIB,
  cpuSeconds: 3600,
  openFiles: 65_536,
};

/** A policy with the defaults for everything that is not given. */
export function sandboxPolicy(given: Partial<SandboxPolicy> & Pick<SandboxPolicy, "writable">): SandboxPolicy {
  return {
    readOnlyWithin: [".oxbow"],
    liveWritable: [],
    hidden: [],
    visible: [],
    network: "off",
    unixSockets: "off",
    repositories: "guarded",
    secrets: "shown",
    temporaryBytes: 2 * GIB,
    ...given,
    limits: { ...DEFAULT_LIMITS, ...given.limits },
  };
}

export type Writes = "held" | "nothing" | LiveAccess;

/** For a program that goes on running. */
export interface LiveAccess extends Pick<LiveFolders, "writable" | "kept"> {
  /** Secret files of the workspace that it may read: absolute. */
  readonly shown: readonly string[];
}

/** A program that a tool starts. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly isOnTerminal?: boolean;
  /** Printed when the command has ended and left processes behind. Only bubblewrap does so. */
  readonly mark?: string | undefined;
  /**
   * `held`: what it writes is held back in a view, where this machine can do that. `nothing`: the folders are read-only for it. Folders: it goes
   * on running, sees the real folders and may change only these, where this machine can do that. Default: it writes into the real folders.
   */
  readonly writes?: Writes | undefined;
}

/** The sandbox cannot be put around this command; the message says why and what to do. */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
}
