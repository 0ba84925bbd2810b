/** `oxbow resume [SESSION]`: continues a session, or lets the person choose one. */
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { helpLines, parseFlags } from "../../feature/flags.js";
import { EXIT } from "../exit-codes.js";
import { runPrompt } from "./run.js";
import { RUN_FLAGS } from "./run-flags.js";

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const flags = parseFlags(RUN_FLAGS, args, "resume");
  if (flags.has("help")) {
    process.stdout.write(
      `Usage: oxbow resume [SESSION] [flags]\n\nOpens a conversation that continues a session: the one you name, by its id or a part of it, or one you choose from a list.\n\n${helpLines(RUN_FLAGS)}\n`,
    );
    return EXIT.answered;
  }
  const [session, ...more] = flags.words;
  if (more.length > 0)
    throw new UsageError("Give one session: oxbow resume SESSION. For a prompt: oxbow SESSION PROMPT.");
  if (session !== undefined) {
    const named = args.flatMap((word) => (word === session ? ["--resume", word] : [word]));
    return runPrompt(parseFlags(RUN_FLAGS, named, "run"), { variables, rawTrace: false });
  }
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true) {
    throw new UsageError(
      "Without a terminal, name the session: oxbow resume SESSION ('oxbow session list' shows them).",
    );
  }
  return runPrompt(flags, { variables, rawTrace: false, choosesSession: true });
}
