/** `oxbow attach [SESSION]`: opens a session of the running engine, or lets the person choose one. */
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { helpLines, parseFlags } from "../../feature/flags.js";
import { EXIT } from "../exit-codes.js";
import { runPrompt } from "./run.js";
import { RUN_FLAGS } from "./run-flags.js";

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const flags = parseFlags(RUN_FLAGS, args, "attach");
  if (flags.has("help")) {
    process.stdout.write(
      `Usage: oxbow attach [SESSION|URL] [flags]\n\nOpens a session of the running engine: the one you name, or one you choose from a list. With a URL (http://HOST:PORT, https://…, unix:/PATH): of the\nengine there, with the token in OXBOW_TOKEN. See docs/terminal.md.\n\n${helpLines(RUN_FLAGS)}\n`,
    );
    return EXIT.answered;
  }
  const [session, ...more] = flags.words;
  if (more.length > 0) {
    throw new UsageError("Give one session: oxbow attach SESSION. For a prompt: oxbow run --attach PROMPT.");
  }
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true) {
    throw new UsageError("'oxbow attach' needs a terminal. For one prompt: oxbow run --attach PROMPT.");
  }
  if (session !== undefined && /^(https?:\/\/|unix:)/.test(session)) {
    const { converseAt } = await import("../attach/by-address.js");
    return converseAt(session, flags, variables);
  }
  const named = args.flatMap((word) => (word === session ? ["--resume", word] : [word]));
  const choosesSession = session === undefined && !flags.has("resume") && !flags.has("continue");
  return runPrompt(parseFlags(RUN_FLAGS, ["--attach", ...named], "run"), {
    variables,
    rawTrace: false,
    choosesSession,
  });
}
