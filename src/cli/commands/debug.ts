import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { type Flag, helpLines, parseFlags } from "../../commands/flags.js";
import { EXIT } from "../exit-codes.js";
import { runPrompt } from "./run.js";
import { RUN_FLAGS } from "./run-flags.js";

export const FLAGS: readonly Flag[] = [
  { name: "raw", help: "write every model request and response, unredacted, to a private file" },
  ...RUN_FLAGS,
];

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const flags = parseFlags(FLAGS, args, "debug");
  if (flags.has("help")) {
    process.stdout.write(`Usage: oxbow debug --raw PROMPT [flags of a run]\n\n${helpLines(FLAGS)}\n`);
    return EXIT.answered;
  }
  if (!flags.has("raw")) throw new UsageError("Give a prompt: oxbow debug --raw PROMPT");
  return runPrompt(flags, { variables, rawTrace: true });
}
