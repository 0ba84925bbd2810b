/** Describes how executable extensions run: in the sandbox of the session, with an environment free of secrets. */
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { ExtensionFile } from "../../base/extension-files.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { Containment } from "../../extensions/executable/containment.js";
import { executableHooks, type HookStage, runHook } from "../../extensions/executable/hooks.js";
import type { SessionId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";
import { nodeClock } from "../../system/node-clock.js";
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

/** Returns what the last hook leaves; the input itself if there is no hook. A failing hook is reported and changes nothing. */
export async function runEarlyHooks(
  stage: HookStage & ("sources" | "resolve"),
  input: JsonObject,
  { files, ...place }: LonePlace & { readonly files: readonly ExtensionFile[] },
): Promise<JsonObject> {
  const { notify } = place;
  const hooks = executableHooks(files, { report: () => {}, isKept: () => false }).filter(
    (hook) => hook.stage === stage,
  );
  if (hooks.length === 0) return input;
  return withContainment(place, async (containment) => {
    let value = input;
    for (const hook of hooks) {
      const named = { ...value, stage, hook: hook.name, cwd: place.root };
      const { output, refusal, problem } = await runHook(hook, named, { containment });
      if (refusal !== undefined) throw new UsageError(`The hook ${stage}/${hook.name} refuses: ${refusal}`);
      if (problem !== undefined) notify(`The hook ${stage}/${hook.name} ${problem}.`);
      if (output !== undefined) value = { ...value, ...output };
    }
    return value;
  });
}
