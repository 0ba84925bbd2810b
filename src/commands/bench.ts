/** `/bench` (feature M17). */
import type { SlashCommand } from "./registry.js";

export const bench: SlashCommand = {
  name: "bench",
  usage: "/bench [MODEL …] [--runs N] [--prompt TEXT]",
  summary: "how fast models answer: those named, or those that are installed",
  run: (args, context) => context.bench(args),
};
