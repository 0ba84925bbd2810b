/** How executable extensions run: in the sandbox of the session, with an environment free of secrets. */
import { dirname, join } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { Variables } from "../../base/variables.js";
import type { Containment } from "../../extensions/executable/containment.js";
import type { SessionId } from "../../protocol/ids.js";
import { nodeClock } from "../../system/node-clock.js";
import { isWithin } from "../../system/within.js";
import { childEnvironment } from "../../tools/child-environment.js";
import type { LoadedSettings } from "../settings/settings.js";
import { RunSandbox } from "./sandbox.js";

export interface ContainmentOptions {
  readonly variables: Variables;
  readonly root: string;
  readonly clock: Clock;
  readonly sandbox: RunSandbox;
  readonly session?: SessionId;
}

export function containmentOf({ variables, root, clock, sandbox, session }: ContainmentOptions): Containment {
  const env = {
    ...childEnvironment(variables),
    PWD: root,
    OXBOW_WORKSPACE: root,
    ...(session !== undefined && { OXBOW_SESSION: session }),
  };
  return {
    root,
    env,
    clock,
    acting: (command, openings) =>
      sandbox.wrap(command, { onTerminal: false, outside: false, openings, hasInput: true, writes: "held" }),
    reading: (command) =>
      sandbox.wrap(command, { onTerminal: false, outside: false, hasInput: true, writes: "nothing" }),
  };
}

/** Folders of interpreters that the user installed: `~/.pyenv/shims` needs the files beside it. */
export function toolChains({ PATH = "", HOME }: Variables): readonly string[] {
  if (HOME === undefined) return [];
  return PATH.split(":").flatMap((folder) => {
    if (!isWithin(folder, HOME) || folder === HOME) return [];
    const above = dirname(folder);
    return [above === HOME || above === join(HOME, ".local") ? folder : above];
  });
}

export interface LonePlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
  readonly notify: (message: string) => void;
}

export function loneSandbox(place: LonePlace): RunSandbox {
  const { config, data, state } = place.loaded.roots;
  return new RunSandbox({
    ...place,
    session: "sess_none" as SessionId,
    outputDirectory: join(state, "output"),
    hidden: [config, data, state],
  });
}

export async function withContainment<T>(place: LonePlace, use: (containment: Containment) => Promise<T>): Promise<T> {
  const sandbox = loneSandbox(place);
  try {
    return await use(containmentOf({ ...place, clock: nodeClock, sandbox }));
  } finally {
    await sandbox.close();
  }
}
