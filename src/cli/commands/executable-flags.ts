import { RUN_FLAGS } from "./run-flags.js";

/** The flags that may come before the name of a program in a folder. */
export const COMMAND_FLAGS = RUN_FLAGS.filter(({ name }) => name === "allow-project-hooks" || name === "sandbox");
