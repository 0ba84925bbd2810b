import { RUN_FLAGS } from "./run-flags.js";

/** The flags that may come before the name of a program in a folder. */
const NAMES: ReadonlySet<string> = new Set(["allow-project-hooks", "no-project-hooks", "sandbox"]);

export const COMMAND_FLAGS = RUN_FLAGS.filter(({ name }) => NAMES.has(name));
