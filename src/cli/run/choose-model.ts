/** Chooses the model of a run: by its flags and settings, by hooks of the stage `resolve`, or from the models that are ready. */
import type { Terminal } from "../../clients/headless/terminal.js";
import type { ParsedFlags } from "../../commands/flags.js";
import type { ProjectContent } from "../../runtime/content/project-content.js";
import type { Chosen, ModelChoice, ModelRegistry } from "../../runtime/models/model-registry.js";
import type { ModelRoutes } from "../../runtime/models/model-routes.js";
import type { LonePlace } from "../../runtime/parts/lone-containment.js";
import type { Settings } from "../../runtime/settings/settings.js";
import { nodeClock } from "../../system/node-clock.js";
import { askOnce, personPresent } from "../terminal-io.js";
import type { RunPlace } from "./run-models.js";

/** A resumed session keeps its model, unless the flags name another. */
function namesModel(flags: ParsedFlags): boolean {
  return flags.has("model") || flags.has("provider");
}

function modelChoice({ provider, model }: Settings) {
  return { provider: provider.value, model: model.value };
}

/** Hooks of the stage `resolve` may choose another model, as long as the flags name none. */
async function resolvedChoice(
  choice: ModelChoice,
  { content, ...place }: LonePlace & { readonly content: ProjectContent },
): Promise<ModelChoice> {
  const files = content.extensions.of("hook");
  if (!files.some(({ name }) => name.startsWith("resolve/"))) return choice;
  const { runEarlyHooks } = await import("../../runtime/content/early-hooks.js");
  const input = { provider: choice.provider ?? null, model: choice.model ?? null };
  const { provider, model } = await runEarlyHooks("resolve", input, { ...place, files });
  return {
    ...(typeof provider === "string" && provider !== "" && { provider }),
    ...(typeof model === "string" && model !== "" && { model }),
  };
}

/** The model that the flags name, that of the resumed session or cassette (`earlier`), or that of the settings. */
export async function modelOfRun(
  flags: ParsedFlags,
  from: RunPlace & {
    readonly registry: ModelRegistry;
    readonly routes: ModelRoutes;
    readonly terminal: Terminal;
    readonly earlier: ModelChoice | undefined;
  },
): Promise<Chosen> {
  const { registry, routes, terminal, earlier, ...place } = from;
  const wanted = modelChoice(place.loaded.settings);
  const named = namesModel(flags) ? wanted : earlier;
  const choice = named ?? (await resolvedChoice(wanted, place));
  return (await routes.choose(choice)) ?? chooseModel(registry, { choice, notify: place.notify, terminal });
}

/** Shows a line while slow servers have not answered. */
async function chooseModel(
  registry: ModelRegistry,
  { choice, notify, terminal }: { choice: ModelChoice; notify: (message: string) => void; terminal: Terminal },
): Promise<Chosen> {
  const person = personPresent() ? { ask: askOnce, notify } : undefined;
  if (!terminal.showProgress) return registry.choose(choice, person);
  const { LookingLine } = await import("../looking-line.js");
  const write = (text: string) => void process.stderr.write(text);
  const line = new LookingLine("oxbow · looking for models …", { write, clock: nodeClock });
  const personAfterLine = person && {
    ask: (...question: Parameters<typeof askOnce>) => {
      line.end();
      return person.ask(...question);
    },
    notify: (message: string) => {
      line.end();
      notify(message);
    },
  };
  try {
    return await registry.choose(choice, personAfterLine);
  } finally {
    line.end();
  }
}
