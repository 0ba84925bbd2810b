/** The stages `sources` and `resolve`, which run before a turn: a pipeline of executable hooks over one JSON object. */
import type { ExtensionFile } from "../../base/extension-files.js";
import { UsageError } from "../../base/usage-error.js";
import { executableHooks, type HookStage, runHook } from "../../extensions/executable/hooks.js";
import type { JsonObject } from "../../protocol/json.js";
import { type LonePlace, withContainment } from "../parts/containment.js";

/** What the last hook leaves; the input itself if there is no hook. A failing hook is reported and changes nothing. */
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
