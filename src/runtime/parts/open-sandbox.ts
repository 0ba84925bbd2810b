/** Makes one sandbox of a session: what its commands may read, change and reach. */
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Variables } from "../../base/variables.js";
import { skillFolder } from "../../context/skills/settings.js";
import type { SessionId } from "../../protocol/ids.js";
import type { SecretFiles } from "../../security/guard-list/secret-files.js";
import type { SandboxOverrides } from "../../security/sandbox/detect.js";
import type { Sandbox, SandboxOptions } from "../../security/sandbox/sandbox.js";
import { nodeClock } from "../../system/node-clock.js";
import { realpathSoFar } from "../../system/real-path.js";
import { isWithin } from "../../system/within.js";
import { networkOf, resolverOf } from "../network.js";
import type { LoadedSettings } from "../settings/settings.js";
import type { Reach } from "./contained-reach.js";
import { extraRoots, fromHome } from "./extra-folders.js";

export interface SandboxPlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
  readonly session: SessionId;
  /** Stays readable: it contains outputs that are too long for the model. */
  readonly outputDirectory: string;
  /** Folders of Oxbow itself that no command may read. */
  readonly hidden: readonly string[];
  /** What stays readable wherever it lies: absolute and free of links. */
  readonly visible?: readonly string[];
  /** The limits of path permissions for commands. */
  readonly restrictions?: SandboxOptions["restrictions"];
}

/** A terminal cannot pass descriptors. */
export type Way = "pipes" | "terminal";

/** The user's settings. */
export function sandboxOverrides({ sandbox, sandbox_container }: LoadedSettings["settings"]): SandboxOverrides {
  if (sandbox.value === "off") return { kind: "off" };
  const image = sandbox_container.value;
  return image === undefined ? { kind: "auto" } : { kind: "container", container: { image } };
}

/** Paths that no command may read. */
export async function secretPaths({ hidden, variables }: SandboxPlace): Promise<readonly string[]> {
  const { usualSecrets } = await import("../../security/sandbox/hidden-paths.js");
  return [...hidden, ...usualSecrets({ home: variables.HOME || homedir() })];
}

/** Commands cannot create missing folders either. */
export async function alsoWritable(place: SandboxPlace, reach: Reach): Promise<readonly string[]> {
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

/** What programs which go on running may change besides the workspace: not its repository. */
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
  readonly way: Way;
  readonly name: string;
  readonly reach: Reach;
}

export async function openSandbox(
  place: SandboxPlace,
  { way, name, reach, secrets, space }: OpenSandboxOptions,
): Promise<Sandbox> {
  const [{ Sandbox }, { sandboxPolicy }, { ENGINE_VARIABLES }] = await Promise.all([
    import("../../security/sandbox/sandbox.js"),
    import("../../security/sandbox/policy.js"),
    import("../../security/sandbox/container.js"),
  ]);
  const { loaded, variables, root, session, outputDirectory, restrictions, visible = [] } = place;
  const { settings, roots } = loaded;
  const home = variables.HOME || homedir();
  const network = networkOf(variables);
  const privately = reach.home === "private" ? await privateReach(place, { home, reach }) : undefined;
  const ownFolders = Object.values(roots).map(realpathSoFar);
  // Only what exists can be read-only.
  for (const folder of ownFolders) if (isWithin(folder, root)) ownFolder(folder);
  const options: SandboxOptions = {
    platform: process.platform,
    architecture: process.arch,
    path: variables.PATH,
    overrides: sandboxOverrides(settings),
    engine: Object.fromEntries(
      ENGINE_VARIABLES.flatMap((name) => (variables[name] === undefined ? [] : [[name, variables[name]]])),
    ),
    folder: join(roots.state, "sandbox"),
    workspace: root,
    home,
    id: `${session}-${name}`,
    ...(restrictions && { restrictions }),
    ...(secrets && { secrets }),
    ...(space && { space }),
    passesDescriptors: way === "pipes" ? "yes" : "no",
    policy: sandboxPolicy({
      writable: [root, ...(await alsoWritable(place, reach))],
      liveWritable: await liveWritable(place),
      // A relative OXBOW_HOME lies in the workspace.
      readOnlyWithin: [".oxbow", ...ownFolders],
      hidden: [...(await secretPaths(place)), ...(privately?.otherHomes ?? [])],
      visible: [outputDirectory, ownFolder(join(roots.data, "programs")), ownFolder(skillFolder(roots)), ...visible],
      network: reach.network === "hosts" ? { allow: settings.sandbox_hosts.value } : reach.network,
      unixSockets: reach.unixSockets,
      secrets: reach.secrets,
      ...(privately && { home: privately.home, repositories: "read-only" as const }),
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

async function privateReach(
  { loaded, variables, root }: SandboxPlace,
  { home, reach: { network } }: { readonly home: string; readonly reach: Reach },
) {
  const { otherHomes, privateHome } = await import("../../security/sandbox/private-home.js");
  const about = { home, workspace: root, variables, cacheFolder: loaded.roots.cache };
  return {
    home: privateHome({ ...about, network: network === "off" ? "off" : "open" }),
    otherHomes: otherHomes(home),
  };
}
