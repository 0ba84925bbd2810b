/** `oxbow bench`. */
import { BENCH } from "../../commands/catalogue/models.js";
import { benchCommand } from "../../runtime/commands/bench.js";
import { createModelRegistry } from "../../runtime/models/model-registry.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { nodeClock } from "../../system/node-clock.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "bench",
  specs: [BENCH],
  about: `Asks each model the same question and shows the time to the first token, the total time, and the tokens per second.
Without names it asks every model on this machine, and the default model of each other provider that is ready.`,
  more: "Example:  oxbow bench ollama:qwen3:8b anthropic --runs 3",
  open: async (flags, variables) => {
    const { settings, roots, profilePath } = await loadSettings(flags, variables);
    const tables = { value: settings.providers.value, file: profilePath };
    const registry = createModelRegistry({ variables, roots, tables });
    return { commands: [benchCommand({ registry, clock: nodeClock })] };
  },
};

export const run = shellRunner(shell);
