/** Makes one sandbox of a session: what its commands may read, change and reach. */
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Variables } from "../../base/variables.js";
import { skillFolder } from "../../context/skills/settings.js";
import type { SessionId } from "../../protocol/ids.js";
import type { SecretFiles } from "../../security/guard-list/secret-files.js";
import type { PermissionMode } from "../../security/permissions/modes.js";
import type { SandboxOverrides } from "../../security/sandbox/detect.js";
import { extraRoots, fromHome } from "../../security/sandbox/extra-folders.js";
import type { Sandbox, SandboxOptions } from "../../security/sandbox/sandbox.js";
import type { SandboxState } from "../../security/sandbox/state.js";
import { nodeClock } from "../../system/node-clock.js";
import { realpathSoFar } from "../../system/real-path.js";
import { isWithin } from "../../system/within.js";
import { networkOf, resolverOf } from "../network.js";
import type { LoadedSettings } from "../settings/settings.js";
import type { RunSandboxOptions } from "./sandbox.js";

export interface SandboxPlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
  readonly session: SessionId;
  /** Stays readable: it contains outputs that are too long for the model. */
  readonly outputDirectory: string;
  /** Folders of Oxbow itself that no command may read. */
  readonly hidden: readonly string[];
  /** Holds what stays readable wherever it lies: absolute and free of links. */
  readonly visible?: readonly string[];
  /** The limits of path permissions for commands. */
  readonly restrictions?: SandboxOptions["restrictions"];
}

/** The user's settings. */
export function sandboxOverrides({ sandbox, sandbox_container }: LoadedSettings["settings"]): SandboxOverrides {
  if (sandbox.value === "off") return { kind: "off" };
  const image = sandbox_container.value;
  return image === undefined ? { kind: "auto" } : { kind: "container", container: { image } };
}

/** Paths that no command may read. */
async function secretPaths({ hidden, variables }: SandboxPlace): Promise<readonly string[]> {
  const { usualSecrets } = await import("../../security/command-home/usual-secrets.js");
  return [...hidden, ...usualSecrets({ home: variables.HOME || homedir() })];
}

/** Commands cannot create missing folders either. */
async function alsoWritable(place: SandboxPlace, reach: Reach): Promise<readonly string[]> {
  return [...(await namedWritable(place, reach)), ...extraRoots(place.loaded, place.variables)];
}

/** The existing folders of the setting `sandbox_writable`. */
async function namedWritable(
  { loaded, variables, root }: Pick<SandboxPlace, "loaded" | "variables" | "root">,
  { home: kind }: Pick<Reach, "home">,
): Promise<readonly string[]> {
  const named = loaded.settings.sandbox_writable.value;
  if (named.length === 0) return [];
  const [{ outsideGitFolder }, { existsSync }] = await Promise.all([
    import("../../security/sandbox/outside-repository.js"),
    import("node:fs"),
  ]);
  return named
    .filter((folder) => folder !== "git" || kind === "readable")
    .map((folder) => (folder === "git" ? outsideGitFolder(root) : fromHome(folder, variables)))
    .filter((folder) => folder !== undefined)
    .filter((folder) => existsSync(folder));
}

/** Tells what programs which go on running may change besides the workspace: not its repository. */
export function liveWritable(place: Pick<SandboxPlace, "loaded" | "variables" | "root">): Promise<readonly string[]> {
  return namedWritable(place, { home: "private" });
}

/** The secret files of the folders that commands of a session may change. */
export async function openSecretFiles(place: SandboxPlace): Promise<SecretFiles> {
  const { loaded, variables, root } = place;
  const [{ SecretFiles }, { realpathOrSelf }, also] = await Promise.all([
    import("../../security/guard-list/secret-files.js"),
    import("../../system/real-path.js"),
    alsoWritable(place, { home: "private", network: "off", unixSockets: "off", secrets: "masked" }),
  ]);
  return new SecretFiles({
    roots: [root, ...also].map(realpathOrSelf),
    home: variables.HOME || homedir(),
    shown: loaded.settings.sandbox_secrets.value,
    clock: nodeClock,
  });
}

export interface OpenSandboxOptions extends Pick<SandboxOptions, "secrets" | "space"> {
  readonly name: string;
  readonly reach: Reach;
}

export async function openSandbox(
  place: SandboxPlace,
  { name, reach, secrets, space }: OpenSandboxOptions,
): Promise<Sandbox> {
  const [{ Sandbox }, { sandboxPolicy }, { engineVariables }] = await Promise.all([
    import("../../security/sandbox/sandbox.js"),
    import("../../security/sandbox/policy.js"),
    import("../../security/container/container.js"),
  ]);
  const { loaded, variables, root, session, outputDirectory, restrictions, visible = [] } = place;
  const { settings, roots } = loaded;
  const home = variables.HOME || homedir();
  const network = networkOf(variables);
  const homes = await homesOf(place, { home, reach });
  const ownFolders = Object.values(roots).map(realpathSoFar);
  // Only what exists can be read-only.
  for (const folder of ownFolders) if (isWithin(folder, root)) ownFolder(folder);
  const options: SandboxOptions = {
    platform: process.platform,
    architecture: process.arch,
    path: variables.PATH,
    overrides: sandboxOverrides(settings),
    engine: engineVariables(variables),
    folder: join(roots.state, "sandbox"),
    workspace: root,
    id: `${session}-${name}`,
    ...(restrictions && { restrictions }),
    ...(secrets && { secrets }),
    ...(space && { space }),
    policy: sandboxPolicy({
      writable: [root, ...(await alsoWritable(place, reach))],
      liveWritable: await liveWritable(place),
      // A relative OXBOW_HOME lies in the workspace.
      readOnlyWithin: [".oxbow", ...ownFolders],
      hidden: [...(await secretPaths(place)), ...homes.hidden],
      visible: [outputDirectory, ownFolder(join(roots.data, "programs")), ownFolder(skillFolder(roots)), ...visible],
      network: reach.network === "hosts" ? { allow: settings.sandbox_hosts.value } : reach.network,
      unixSockets: reach.unixSockets,
      secrets: reach.secrets,
      ...homes.policy,
    }),
    network,
    resolveSafely: resolverOf(network),
  };
  return new Sandbox(options);
}

/** A folder must exist before the sandbox. */
function ownFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

async function homesOf(
  { loaded, variables, root }: SandboxPlace,
  { home, reach }: { readonly home: string; readonly reach: Reach },
) {
  const { otherHomes, ownCaches, privateHome } = await import("../../security/command-home/private-home.js");
  const network = reach.network === "off" ? ("off" as const) : ("open" as const);
  const about = { home, workspace: root, variables, cacheFolder: loaded.roots.cache, network };
  if (reach.home === "readable") return { hidden: [], policy: { caches: ownCaches(about) } };
  return {
    hidden: otherHomes(home),
    policy: { home: privateHome(about), repositories: "read-only" as const },
  };
}

export interface Reach {
  /** `private` also means that repositories are read-only. */
  readonly home: "readable" | "private";
  readonly network: "off" | "hosts" | "open";
  readonly unixSockets: "on" | "off";
  /** `masked`: commands cannot read the untracked secret files of the workspace. */
  readonly secrets: "shown" | "masked";
}

/** Tells whether commands run in this mode without a question to the user: the tight sandbox is for them. */
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

/** Undefined if the sandbox can contain commands that tightly; `direct` is what a person may accept that is weaker. */
export async function whyNotContained(
  state: SandboxState,
  { variables, root, isRecorded }: Pick<RunSandboxOptions, "variables" | "root" | "isRecorded">,
  access: "held" | "direct" = "held",
): Promise<string | undefined> {
  if (state.kind === "none") return "there is no sandbox.";
  const [{ hasNamespaces }, { seccompFilter }, { whyNoPrivateHome }] = await Promise.all([
    import("../../security/sandbox/state.js"),
    import("../../security/sandbox/seccomp-filter.js"),
    import("../../security/command-home/private-home.js"),
  ]);
  if (state.kind === "container") return "a container does not hold back what commands write.";
  if (!hasNamespaces(state) && !(access === "direct" && state.kind === "sandbox-exec"))
    return `the ${state.kind} sandbox does not hide the home folder.`;
  if (state.kind === "bubblewrap" && seccompFilter(process.arch, "off") === undefined)
    return `there is no system-call filter for ${process.arch}.`;
  const why = whyNoPrivateHome({ home: variables.HOME || homedir(), workspace: root });
  if (why !== undefined) return why;
  return (await isRecorded?.()) === false ? "the session is not stored, so nothing could be undone." : undefined;
}
