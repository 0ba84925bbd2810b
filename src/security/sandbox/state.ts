/** The sandbox of this machine, and the message about it. */
import type { LimitName } from "./policy.js";

/** `unshare`: what bubblewrap does, made with util-linux, without a system-call filter. */
export type SandboxKind = "bubblewrap" | "unshare" | "sandbox-exec" | "container" | "none";

export interface SandboxAbilities {
  /** Writes outside the workspace and reads of hidden files fail. */
  readonly filesystem: boolean;
  /** `off`: there is no network at all. `allowlist`: hosts can be allowed by name. */
  readonly network: "none" | "off" | "allowlist";
  /** A command sees no process but its own, and none of them outlives it. */
  readonly pids: boolean;
  /** The limits that hold here. */
  readonly limits: readonly LimitName[];
}

export interface SandboxState {
  readonly kind: SandboxKind;
  readonly program?: string;
  readonly version?: string;
  /** Why there is none and what to do, or why this one was chosen. */
  readonly reason: string;
  readonly abilities: SandboxAbilities;
}

const NO_ABILITIES: SandboxAbilities = { filesystem: false, network: "none", pids: false, limits: [] };

export function noSandbox(reason: string): SandboxState {
  return { kind: "none", reason, abilities: NO_ABILITIES };
}

/** Tells whether the kernel's namespaces make it: with a private home folder, a shared space of the session, and views. */
export function hasNamespaces({ kind }: Pick<SandboxState, "kind">): boolean {
  return kind === "bubblewrap" || kind === "unshare";
}

/** One line for `/security` and `doctor`. */
export function describeSandbox(state: SandboxState): string {
  if (state.kind === "none") return `none: ${state.reason}`;
  const name = state.version === undefined ? state.kind : `${state.kind} ${state.version}`;
  const { network, pids, limits } = state.abilities;
  const parts = [
    "writes only in the workspace",
    network === "allowlist" ? "network off or allowlist only" : "network off",
    pids ? "own processes" : "shared processes",
    ...(state.kind === "unshare" ? ["no system-call filter: install bubblewrap for it"] : []),
    limits.length > 0 ? `limits on ${limits.map((name) => LIMIT_WORDS[name]).join(", ")}` : "no limits",
  ];
  return `${name}: ${parts.join("; ")}`;
}

const LIMIT_WORDS: Readonly<Record<LimitName, string>> = {
  processes: "processes",
  memoryBytes: "memory",
  fileSizeBytes: "file size",
  cpuSeconds: "processor time",
  openFiles: "open files",
};

/** The message with the first command; undefined if there is a sandbox. */
export function sandboxNotice(state: SandboxState, mode: "auto" | "required"): string | undefined {
  if (state.kind !== "none") return undefined;
  if (mode === "required") return `Commands do not run: a sandbox is required, and there is none: ${state.reason}`;
  return `Commands run without a sandbox: ${state.reason} Every command that does more than read needs your permission.`;
}
