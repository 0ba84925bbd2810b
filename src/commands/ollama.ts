/** `/ollama` (feature M5). */
import type { SlashCommand } from "./registry.js";

export const ollama: SlashCommand = {
  name: "ollama",
  usage: "/ollama [status | list | start | stop | use NAME | pull NAME]",
  summary: "the local Ollama service and its models",
  run: (args, context) => context.ollama(args),
};
