/** How executable extensions run: in the sandbox of the session, with an environment free of secrets. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { Variables } from "../../base/variables.js";
import type { Containment, PlainCommand } from "../../extensions/executable/containment.js";
import type { SessionId } from "../../protocol/ids.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { isWithin } from "../../system/within.js";
import { childEnvironment } from "../../tools/child-environment.js";
import type { LoadedSettings } from "../settings/settings.js";
import type { RunSandbox } from "./sandbox.js";

const ENV = "/usr/bin/env";

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
  const folder = join(loaded.roots.data, "programs");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const programs = realpathOrSelf(folder);
  const readable = [programs, ...toolChains(variables)].filter(existsSync).map(realpathOrSelf);
  return {
    root,
    env,
    clock,
    acting: (command, openings) =>
      sandbox.wrap(command, { onTerminal: false, outside: false, openings, hasInput: true, writes: "held" }),
    reading: async (command: PlainCommand) => {
      const { kind } = await sandbox.find();
      // Every machine has `env`, so it can test the sandbox.
      const plain = { ...command, argv: [ENV, ...command.argv], cwd: programs };
      const reading = kind === "bubblewrap" ? await sandbox.wrapReader(plain, readable) : plain;
      if (reading !== plain) return reading;
      return sandbox.wrap(command, { onTerminal: false, outside: false, hasInput: true, writes: "nothing" });
    },
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
