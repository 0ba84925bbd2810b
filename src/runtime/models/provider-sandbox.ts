/**
 * The sandbox around the providers of a project.
 *
 * 1. A provider gets the conversation and its own variables. It sees neither the workspace nor the home folder, and changes nothing
 *    outside its private /tmp.
 * 2. It reaches only the hosts that it declares, through the proxy of the sandbox, which refuses private addresses.
 * 3. Each start has a sandbox of its own, which ends with the program.
 */
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { ContainedProvider, ContainProvider, ProviderCommand } from "../../providers/executable/containment.js";
import type { PrivateHome } from "../../security/sandbox/policy.js";
import type { Sandbox } from "../../security/sandbox/sandbox.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { networkOf, resolverOf } from "../network.js";
import { sandboxOverrides } from "../parts/open-sandbox.js";
import type { LoadedSettings } from "../settings/settings.js";

export interface ProviderPlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
  readonly notify: (message: string) => void;
}

export function containProviders(place: ProviderPlace): ContainProvider {
  let starts = 0;
  let isTold = false;
  return async (command, hosts) => {
    const sandbox = await openSandbox(place, { hosts, number: ++starts });
    const { kind } = await sandbox.state();
    if (kind !== "none") return wrapped(sandbox, command);
    const mode = place.loaded.settings.sandbox.value;
    if (mode === "required") throw new Error('a sandbox is required (sandbox = "required"), and this machine has none');
    if (mode !== "off" && !isTold)
      place.notify("This machine has no sandbox, so the project's provider runs without one.");
    isTold = true;
    return command;
  };
}

async function wrapped(sandbox: Sandbox, command: ProviderCommand): Promise<ContainedProvider> {
  const {
    argv: [program = "", ...args],
    cwd,
    env,
  } = command;
  const inside = await sandbox.wrap({ program, args, cwd, env });
  const { withheld, isWrapper, endsWithAll, explain } = inside;
  return {
    ...{ argv: [inside.program, ...inside.args], cwd: inside.cwd, env: inside.env },
    ...{ withheld, isWrapper, endsWithAll, explain },
    ended: async () => {
      await inside.ended();
      await sandbox.close();
    },
  };
}

async function openSandbox(
  { loaded, variables, root }: ProviderPlace,
  { hosts, number }: { readonly hosts: readonly string[]; readonly number: number },
): Promise<Sandbox> {
  const [{ Sandbox }, { sandboxPolicy }, { engineVariables }, { usualSecrets }] = await Promise.all([
    import("../../security/sandbox/sandbox.js"),
    import("../../security/sandbox/policy.js"),
    import("../../security/container/container.js"),
    import("../../security/command-home/usual-secrets.js"),
  ]);
  const { roots, settings } = loaded;
  const home = variables.HOME || homedir();
  const programs = join(roots.data, "programs");
  mkdirSync(programs, { recursive: true, mode: 0o700 });
  const network = networkOf(variables);
  const privately = await privateHome({ home, programs, variables, cacheFolder: roots.cache });
  return new Sandbox({
    ...{ platform: process.platform, architecture: process.arch, path: variables.PATH },
    ...{ overrides: sandboxOverrides(settings), workspace: root },
    engine: engineVariables(variables),
    folder: join(roots.state, "sandbox"),
    id: `provider-${process.pid}-${number}`,
    policy: sandboxPolicy({
      writable: [],
      hidden: [roots.config, roots.data, roots.state, root, ...usualSecrets({ home }), ...privately.hidden],
      visible: [realpathOrSelf(programs)],
      network: hosts.length === 0 ? "off" : { allow: hosts },
      repositories: "read-only",
      ...(privately.home && { home: privately.home }),
    }),
    network,
    resolveSafely: resolverOf(network),
  });
}

/** Its tool chains stay readable. Where the home folder holds everything, only its secrets are hidden. */
async function privateHome(place: {
  readonly home: string;
  readonly programs: string;
  readonly variables: Variables;
  readonly cacheFolder: string;
}): Promise<{ readonly home?: PrivateHome; readonly hidden: readonly string[] }> {
  const { otherHomes, privateHome, whyNoPrivateHome } = await import("../../security/command-home/private-home.js");
  const { home, programs: workspace, variables, cacheFolder } = place;
  const hidden = otherHomes(home);
  if (whyNoPrivateHome({ home, workspace }) !== undefined) return { hidden };
  return { hidden, home: privateHome({ home, workspace, variables, cacheFolder, network: "open" }) };
}
