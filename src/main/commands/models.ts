/** `oxbow models`: what can be used now, and what is missing for the rest. */
import { environment } from "../env.js";
import { EXIT } from "../exit-codes.js";
import { helpLines, parseFlags } from "../flags.js";
import { createModelShelf } from "../model-shelf.js";

const FLAGS = [
  { name: "json", help: "as JSON" },
  { name: "help", short: "h", help: "show this help" },
];

export async function run(args: readonly string[]): Promise<number> {
  const flags = parseFlags(FLAGS, args, "models");
  if (flags.has("help")) {
    process.stdout.write(
      `Usage: oxbow models [--json]\n\n${helpLines(FLAGS)}\n\nUse one: oxbow --model PROVIDER:NAME "PROMPT"\n`,
    );
    return EXIT.answered;
  }
  const shelf = createModelShelf({ variables: environment() });
  const shown = flags.has("json") ? JSON.stringify(await shelf.providers(), null, 2) : await shelf.describe();
  process.stdout.write(`${shown}\n`);
  return EXIT.answered;
}
