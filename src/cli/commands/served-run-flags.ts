import { RUN_FLAGS } from "./run-flags.js";

/** Flags of a run that concern one prompt, one session or the screen. */
const OF_ONE_PROMPT: ReadonlySet<string> = new Set([
  ...[
    "image",
    "audio",
    "plain",
    "quiet-cost",
    "run",
    "keep-going",
    "continue",
    "resume",
    "wait",
    "orphan",
    "orphan-note",
  ],
  ...[
    "stream",
    "stream-events",
    "json-events",
    "output-format",
    "verbose",
    "help",
    "skip-unapproved",
    "allow-project-hooks",
    "no-project-hooks",
  ],
  ...["init", "maintenance"],
]);

/** Flags of the commands that run sessions for another program. */
export const SERVED_RUN_FLAGS = RUN_FLAGS.filter(({ name }) => !OF_ONE_PROMPT.has(name));
