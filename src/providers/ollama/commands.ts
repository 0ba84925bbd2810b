/** `/ollama …` and `oxbow ollama …`. */
import { type Argument, type CommandOf, EVERYONE, EVERYWHERE, type Subject } from "../../feature/command.js";
import type { OllamaControl } from "./control.js";

const LOCAL_MODEL: Argument = { name: "NAME", kind: "text", complete: "model" };

/** Starting a service and loading models takes the memory and the disk of the user, so an agent may only look. */
export const COMMANDS: readonly CommandOf<OllamaControl>[] = [
  {
    name: "ollama:status",
    aliases: ["ollama"],
    summary: "whether it answers, and which models are in memory (the default)",
    users: EVERYONE,
    places: EVERYWHERE,
    run: (_args, control, context) => control.status(context),
  },
  {
    name: "ollama:list",
    summary: "list the installed models",
    users: EVERYONE,
    places: EVERYWHERE,
    run: (_args, control, context) => control.list(context),
  },
  {
    name: "ollama:start",
    summary: "start 'ollama serve' in the background and wait for it",
    places: EVERYWHERE,
    run: (_args, control, context) => control.startAndSay(context),
  },
  {
    name: "ollama:stop",
    summary: "stop it, if Oxbow started it",
    places: EVERYWHERE,
    run: (_args, control) => control.stop(),
  },
  {
    name: "ollama:use",
    summary: "load a model and use it",
    arguments: [LOCAL_MODEL],
    places: EVERYWHERE,
    run: (args, control, context) => control.use(args.text("NAME") ?? "", context),
  },
  {
    name: "ollama:pull",
    summary: "download a model; the same command resumes after Ctrl-C",
    arguments: [{ name: "NAME", kind: "text" }],
    places: EVERYWHERE,
    run: (args, control, context) => control.pull(args.text("NAME") ?? "", context),
  },
];

export const subject: Subject = {
  name: "ollama",
  summary: "control the local Ollama service and its models",
  heading: "Models, keys and costs",
  specs: COMMANDS,
  shell: {
    about: "Controls the local Ollama service and its models.",
    more: "OLLAMA_HOST sets another address than 127.0.0.1:11434.",
  },
};
