/** How executable extensions run: in the sandbox of the session, with an environment free of secrets. */
import { dirname, join } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { Variables } from "../../base/variables.js";
import type { Containment, PlainCommand } from "../../extensions/executable/containment.js";
import type { SessionId } from "../../protocol/ids.js";
import { isWithin } from "../../system/within.js";
import { childEnvironment } from "../../tools/child-environment.js";
import type { LoadedSettings } from "../settings/settings.js";
import type { RunSandbox } from "./sandbox.js";

export interface ContainmentOptions {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
  readonly clock: Clock;
  readonly sandbox: RunSandbox;
  readonly session?: SessionId;
}

export function containmentOf({ loaded, variables, root, clock, sandbox, session }: ContainmentOptions): Containment {
  const env = {
    ...childEnvironment(variables),
    PWD: root,
    OXBOW_WORKSPACE: root,
    ...(session !== undefined && { OXBOW_SESSION: session }),
  };
  const readable = [join(loaded.roots.data, "programs"), ...toolChains(variables)];
  return {
    root,
    env,
    clock,
    acting: (command, openings) =>
      sandbox.wrap(command, { onTerminal: false, outside: false, openings, hasInput: true }),
    reading: async (command: PlainCommand) => {
      const { kind } = await sandbox.find();
      if (kind === "none") return sandbox.wrap(command, { onTerminal: false, outside: false, hasInput: true });
      return sandbox.wrapReader(command, readable);
    },
  };
}

/** Where interpreters are that the user installed: `~/.pyenv/shims` needs what lies beside it. */
function toolChains({ PATH = "", HOME }: Variables): readonly string[] {
  if (HOME === undefined) return [];
  return PATH.split(":").flatMap((folder) => {
    if (!isWithin(folder, HOME) || folder === HOME) return [];
    const above = dirname(folder);
    return [above === HOME || above === join(HOME, ".local") ? folder : above];
  });
}
