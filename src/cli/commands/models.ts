/** `oxbow models`. */
import { MODELS_LIST, MODELS_TEST } from "../../commands/catalogue/models.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "models",
  specs: [MODELS_LIST, MODELS_TEST],
  about:
    "Lists the models of every provider that is ready, or of one ('oxbow models PROVIDER'), and what the others need.",
  more: `Use one:  oxbow --model PROVIDER:NAME "PROMPT"
Add one:  a .conf file or a program in the folder 'providers' of Oxbow's configuration, or [providers.NAME] in config.toml

'test' asks a model a dozen small questions and shows what it can do. Oxbow remembers the result and gives a weak model a
smaller prompt and fewer tools. It exits with 0 when the model was measured, and with 1 when the model does not answer.`,
  open: async (flags, variables) => {
    const [{ loadSettings }, { localOptions }, { createModelRegistry }, { modelsCommands }] = await Promise.all([
      import("../../runtime/settings/settings.js"),
      import("../../runtime/settings/model-settings.js"),
      import("../../runtime/models/model-registry.js"),
      import("../../runtime/commands/models.js"),
    ]);
    const { settings, roots, profilePath } = await loadSettings(flags, variables);
    const tables = { value: settings.providers.value, file: profilePath };
    const registry = createModelRegistry({ variables, roots, tables, local: localOptions(settings) });
    return { commands: modelsCommands({ registry, settings, roots, variables }) };
  },
};

export const run = shellRunner(shell);
