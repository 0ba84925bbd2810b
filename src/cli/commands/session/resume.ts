import { UsageError } from "../../../base/usage-error.js";
import type { ParsedFlags } from "../../../feature/flags.js";
import type { SessionId } from "../../../protocol/ids.js";
import type { OpenSessions } from "./open-sessions.js";

/** The flags of `oxbow session …` as those of `oxbow run --resume ID`. */
export function resuming(flags: ParsedFlags, id: SessionId, words: readonly string[]): ParsedFlags {
  return {
    ...flags,
    words,
    has: (name) => name === "resume" || flags.has(name),
    text: (name) => (name === "resume" ? id : flags.text(name)),
  };
}

/** The same as `oxbow run --resume ID`. */
export async function resume(
  id: SessionId,
  options: { readonly flags: ParsedFlags; readonly words: readonly string[]; readonly sessions: OpenSessions },
): Promise<number> {
  const { flags, words, sessions } = options;
  if (flags.has("json")) throw new UsageError("Use --output-format json for the answer as JSON.");
  // The run opens the store itself.
  await sessions.close();
  const { runPrompt } = await import("../run.js");
  return runPrompt(resuming(flags, id, words), { variables: sessions.variables, rawTrace: false });
}
