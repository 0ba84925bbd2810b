/** Types slash lines into a set of commands, as a person in a session would. */
import type { Command, CommandAnswer, CommandContext } from "../../feature/command.js";
import { CommandRegistry, runSlash } from "../registry.js";

export const CONTEXT: CommandContext = {
  surface: "slash",
  signal: new AbortController().signal,
  progress: () => {},
  warn: () => {},
  write: async () => {},
};

/** The answer, with `ok: false` and the message for a refusal. */
export type Said = ({ readonly ok: true } & CommandAnswer) | { readonly ok: false; readonly text: string };

export function slashLine(...commands: readonly Command[]): (line: string) => Promise<Said> {
  const registry = new CommandRegistry().register(...commands);
  return async (line) => {
    const result = await runSlash(registry, line, { identity: "human", context: CONTEXT, busy: false });
    return "failure" in result ? { ok: false, text: result.failure.message } : { ok: true, ...result };
  };
}
