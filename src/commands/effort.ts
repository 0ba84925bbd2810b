/** `/effort`: how much the model thinks from the next turn on. */
import type { SlashCommand } from "./registry.js";

export const effort: SlashCommand = {
  name: "effort",
  usage: "/effort [LEVEL]",
  summary: "how much the model thinks: low, medium, high, or auto for as it likes",
  run: (args, context) => context.effort(args.trim().toLowerCase()),
};
