import { UsageError } from "../../../base/usage-error.js";
import { RUN_FLAGS } from "../run-flags.js";
import type { SessionAction } from "./session-action.js";

/** The same as `oxbow run --resume ID`, for those who look for it here. */
export const action: SessionAction = {
  flags: RUN_FLAGS.filter(({ name }) => !["resume", "continue", "store", "cwd", "help"].includes(name)),
  async run(flags, sessions) {
    const { id } = await sessions.named(flags);
    if (flags.has("json")) throw new UsageError("Use --output-format json for the answer as JSON.");
    // The run opens the store itself.
    await sessions.close();
    const { runPrompt } = await import("../run.js");
    const words = flags.words.slice(1);
    return runPrompt(
      {
        ...flags,
        words,
        has: (name) => name === "resume" || flags.has(name),
        text: (name) => (name === "resume" ? id : flags.text(name)),
      },
      { variables: sessions.variables, rawTrace: false },
    );
  },
};
