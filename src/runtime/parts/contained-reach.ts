/** What the sandbox of a command allows, and whether the modes `auto` and `review` may run commands without asking. */
import { homedir } from "node:os";
import type { PermissionMode } from "../../security/permissions/modes.js";
import type { SandboxState } from "../../security/sandbox/state.js";
import type { LoadedSettings } from "../settings/settings.js";
import type { RunSandboxOptions } from "./sandbox.js";

export interface Reach {
  /** `private` also means that repositories are read-only. */
  readonly home: "readable" | "private";
  readonly network: "off" | "hosts" | "open";
  readonly unixSockets: "on" | "off";
  /** `masked`: commands cannot read the untracked secret files of the workspace. */
  readonly secrets: "shown" | "masked";
}

/** Whether commands run in this mode without a question to the user: the tight sandbox is for them. */
export function runsUnasked(mode: PermissionMode, { auto_approve }: LoadedSettings["settings"]): boolean {
  return mode === "auto" || mode === "review" || (mode === "ask" && auto_approve.value);
}

export function reachOf(
  openings: readonly string[],
  { isContained, settings }: { readonly isContained: boolean; readonly settings: LoadedSettings["settings"] },
): Reach {
  const opens = (name: string) => openings.includes(name);
  const hasHosts = settings.sandbox_hosts.value.length > 0;
  const isPrivate = isContained && !opens("git");
  const isOnline = opens("network") || (hasHosts && !isContained);
  return {
    home: isPrivate ? "private" : "readable",
    network: !isOnline ? "off" : hasHosts ? "hosts" : "open",
    unixSockets: opens("unix_sockets") || settings.sandbox_unix_sockets.value ? "on" : "off",
    secrets: isPrivate && !opens("secrets") ? "masked" : "shown",
  };
}

/** Undefined if the sandbox can contain commands that tightly. */
export async function whyNotContained(
  state: SandboxState,
  { variables, root, isRecorded }: Pick<RunSandboxOptions, "variables" | "root" | "isRecorded">,
): Promise<string | undefined> {
  if (state.kind === "none") return "there is no sandbox.";
  const [{ hasNamespaces }, { seccompFilter }, { whyNoPrivateHome }] = await Promise.all([
    import("../../security/sandbox/state.js"),
    import("../../security/sandbox/seccomp-filter.js"),
    import("../../security/sandbox/private-home.js"),
  ]);
  if (!hasNamespaces(state)) return `the ${state.kind} sandbox does not hide the home folder.`;
  if (state.kind === "bubblewrap" && seccompFilter(process.arch, "off") === undefined)
    return `there is no system-call filter for ${process.arch}.`;
  const why = whyNoPrivateHome({ home: variables.HOME || homedir(), workspace: root });
  if (why !== undefined) return why;
  return (await isRecorded?.()) === false ? "the session is not stored, so nothing could be undone." : undefined;
}
