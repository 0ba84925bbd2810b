/** The flags of a run that `oxbow session resume` and `oxbow session compact` take. */
import { RUN_FLAGS } from "../run-flags.js";

const NOT_FOR_RESUME = ["resume", "continue", "store", "cwd", "help"];
const FOR_COMPACT = ["model", "provider", "wait", "orphan", "orphan-note", "budget", "retry-wait", "timeout"];

export const RESUME_FLAGS = RUN_FLAGS.filter(({ name }) => !NOT_FOR_RESUME.includes(name));
export const COMPACT_FLAGS = RUN_FLAGS.filter(({ name }) => FOR_COMPACT.includes(name));
