/** `/compact` and `/summarize` (feature X7). */
import type { SlashCommand } from "./registry.js";

export const compactionCommands: readonly SlashCommand[] = [
  {
    name: "compact",
    usage: "/compact [WHAT TO KEEP IN MIND]",
    summary: "put a summary in the place of the beginning of the conversation",
    run: (args, { compaction }) => compaction.compact(args.trim()),
  },
  {
    name: "summarize",
    usage: "/summarize [WHAT MATTERS]",
    summary: "show a summary of the conversation, which stays as it is",
    run: (args, { compaction }) => compaction.summarize(args.trim()),
  },
];
