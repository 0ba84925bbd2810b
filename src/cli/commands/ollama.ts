/** `oxbow ollama`. */
import * as specs from "../../commands/catalogue/models.js";
import { OllamaControl, ollamaCommands } from "../../runtime/commands/ollama.js";
import { networkOf } from "../../runtime/network.js";
import { makeHome } from "../../runtime/settings/home-folder.js";
import { createHttpClient } from "../../system/http-client.js";
import { nodeClock } from "../../system/node-clock.js";
import { roots } from "../../system/xdg-paths.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "ollama",
  specs: [
    specs.OLLAMA_STATUS,
    specs.OLLAMA_LIST,
    specs.OLLAMA_START,
    specs.OLLAMA_STOP,
    specs.OLLAMA_USE,
    specs.OLLAMA_PULL,
  ],
  about: "Controls the local Ollama service and its models.",
  more: "OLLAMA_HOST sets another address than 127.0.0.1:11434.",
  open: async (_flags, variables) => {
    makeHome(variables);
    const http = createHttpClient({ clock: nodeClock, network: networkOf(variables) });
    const workspace = process.cwd();
    const control = new OllamaControl({ variables, roots: roots(variables), http, clock: nodeClock, workspace });
    return { commands: ollamaCommands((action) => action(control)), close: () => http.close() };
  },
};

export const run = shellRunner(shell);
