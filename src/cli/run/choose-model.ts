/** Chooses the model of a run: by its flags and settings, by hooks of the stage `resolve`, or from the models that are ready. */
import type { Terminal } from "../../clients/headless/terminal.js";
import type { ParsedFlags } from "../../feature/flags.js";
import type { Chosen, ModelChoice, ModelRegistry } from "../../runtime/models/model-registry.js";
import type { ModelRoutes } from "../../runtime/models/model-routes.js";
import { type ModelPlace, settingsChoice } from "../../runtime/models/place-models.js";
import { nodeClock } from "../../system/node-clock.js";
import { askOnce, personPresent } from "../terminal-io.js";

/** A resumed session keeps its model, unless the flags name another. */
function namesModel(flags: ParsedFlags): boolean {
  return flags.has("model") || flags.has("provider");
}

/** The model that the flags name, that of the resumed session or cassette (`earlier`), or that of the settings. */
export async function modelOfRun(
  flags: ParsedFlags,
  from: ModelPlace & {
    readonly registry: ModelRegistry;
    readonly routes: ModelRoutes;
    readonly terminal: Terminal;
    readonly earlier: ModelChoice | undefined;
  },
): Promise<Chosen> {
  const { registry, routes, terminal, earlier, ...place } = from;
  const { provider, model } = place.loaded.settings;
  const named = namesModel(flags) ? { provider: provider.value, model: model.value } : earlier;
  const choice = named ?? (await settingsChoice(place));
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
