/** The sandbox for a program that runs outside of a session: a command, or a hook that runs before there is one. */
import { join } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { Containment } from "../../extensions/executable/containment.js";
import type { SessionId } from "../../protocol/ids.js";
import { nodeClock } from "../../system/node-clock.js";
import type { LoadedSettings } from "../settings/settings.js";
import { containmentOf } from "./containment.js";
import { RunSandbox } from "./sandbox.js";

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
