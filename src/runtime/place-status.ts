/** The place of a session, for a client that shows it. */
import type { PlaceStatus } from "../protocol/queries.js";
import { branchOf } from "../system/git/branch.js";
import type { Place } from "./open-engine.js";
import type { OpenedRun } from "./opening.js";

export async function placeStatus(opened: OpenedRun, { root, content, loaded }: Place): Promise<PlaceStatus> {
  const { run, permissions, effort, sandbox, costs } = opened;
  const branch = branchOf(root);
  const limits = await costs.limitsOf(run.model).catch(() => undefined);
  const facts = limits && (await costs.facts(run.model));
  const state = sandbox.state?.kind;
  return {
    cwd: root,
    profile: loaded.chosen.name,
    mode: permissions.planning ? "plan" : permissions.mode,
    ...(effort.level !== undefined && { effort: effort.level }),
    ...(branch !== undefined && { branch }),
    ...(state !== undefined && { sandbox: state }),
    ...(limits !== undefined && { context_window: limits.reads }),
    ...(facts?.price !== undefined && { price: { input: facts.price.input, output: facts.price.output } }),
    ...(facts !== undefined && { images: facts.abilities.images }),
    instructions: content?.files ?? [],
  };
}
