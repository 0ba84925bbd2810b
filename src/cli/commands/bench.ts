/** `oxbow bench`. */
import type { Variables } from "../../base/variables.js";
import { BENCH } from "../../commands/catalogue/models.js";
import { benchCommand } from "../../runtime/commands/bench.js";
import { createModelRegistry } from "../../runtime/models/model-registry.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { nodeClock } from "../../system/node-clock.js";
import { runShellCommand } from "../shell-command.js";

export function run(args: readonly string[], variables: Variables): Promise<number> {
  return runShellCommand(
    {
      name: "bench",
      specs: [BENCH],
      about: `Asks each model the same question and shows the time to the first token, the total time, and the tokens per second.
Without names it asks every model on this machine, and the default model of each other provider that is ready.`,
      more: "Example:  oxbow bench ollama:qwen3:8b anthropic --runs 3",
      open: async (flags) => {
        const { settings, roots, profilePath } = await loadSettings(flags, variables);
        const tables = { value: settings.providers.value, file: profilePath };
        const registry = createModelRegistry({ variables, roots, tables });
        return { commands: [benchCommand({ registry, clock: nodeClock })] };
      },
    },
    args,
    variables,
  );
}
