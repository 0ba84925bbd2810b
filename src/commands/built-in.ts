/** The built-in commands. `/clear` and `/exit` concern the client and are handled there; they are listed here for `/help`. */
import { failure } from "../protocol/errors.js";
import { bench } from "./bench.js";
import { compactionCommands } from "./compaction.js";
import { costCommands } from "./cost.js";
import { effort } from "./effort.js";
import { ollama } from "./ollama.js";
import { record } from "./record.js";
import { type SlashCommand, SlashRegistry } from "./registry.js";
import { route } from "./route.js";
import { securityCommands } from "./security.js";
import { undoCommands } from "./undo.js";

const HANDLED_BY_CLIENT = () => ({ text: "" });

const help: SlashCommand = {
  name: "help",
  usage: "/help",
  summary: "list the commands",
  run: () => ({ text: helpText(builtInCommands.list()) }),
};

const status: SlashCommand = {
  name: "status",
  usage: "/status",
  summary: "model, workspace, permissions and size of the conversation",
  run: (_args, context) => {
    const rows = context.status();
    const width = Math.max(...rows.map(([label]) => label.length));
    return { text: rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join("\n") };
  },
};

const model: SlashCommand = {
  name: "model",
  usage: "/model [NAME]",
  summary: "show the models, or switch to one (its number there, NAME or PROVIDER:NAME)",
  run: async (args, context) => {
    if (args.trim() !== "") return context.setModel(args.trim());
    return { text: `Now: ${context.currentModel()}\n\n${await context.listModels()}\n\nSwitch: /model NUMBER or NAME` };
  },
};

const shell: SlashCommand = {
  name: "shell",
  forPeople: true,
  usage: "!COMMAND",
  summary: "run a shell command yourself, without the model",
  run: (args, context) => {
    if (args.trim() === "") return { failure: failure("InvalidInput", { detail: "Give a command: !ls" }) };
    return context.shell(args);
  },
};

const clear: SlashCommand = {
  name: "clear",
  usage: "/clear",
  summary: "start a new, empty conversation; model, effort, plan mode, rules, budget and recording stay",
  run: HANDLED_BY_CLIENT,
};

const queue: SlashCommand = {
  name: "queue",
  usage: "/queue TEXT",
  summary: "while a turn runs: send TEXT when it has ended (a plain line is handed to the model at once)",
  run: HANDLED_BY_CLIENT,
};

const cancel: SlashCommand = {
  name: "cancel",
  usage: "/cancel",
  summary: "stop the turn that runs (also Ctrl-C)",
  run: HANDLED_BY_CLIENT,
};

const exit: SlashCommand = { name: "exit", usage: "/exit", summary: "leave (also Ctrl-D)", run: HANDLED_BY_CLIENT };

export const builtInCommands = new SlashRegistry([
  help,
  status,
  model,
  effort,
  bench,
  ...costCommands,
  ...compactionCommands,
  route,
  ...securityCommands,
  record,
  ...undoCommands,
  ollama,
  shell,
  queue,
  cancel,
  clear,
  exit,
]);

function helpText(commands: readonly SlashCommand[]): string {
  const width = Math.max(...commands.map((command) => command.usage.length));
  const lines = commands.map((command) => `${command.usage.padEnd(width)}  ${command.summary}`);
  return [...lines, "", "Anything else is sent to the model. Ctrl-C cancels what runs."].join("\n");
}
