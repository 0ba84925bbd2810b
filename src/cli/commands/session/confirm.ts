import { UsageError } from "../../../base/usage-error.js";
import type { OpenSessions } from "./open-sessions.js";

/** Nobody there to ask is a no that says how to say yes. */
export async function confirm({ terminal }: OpenSessions, question: string): Promise<boolean> {
  if (terminal.askLine === undefined) throw new UsageError(`${question} Say --yes to do it without being asked.`);
  const line = await terminal.askLine(`${question} [y/N] `);
  return /^y(es)?$/i.test(line?.trim() ?? "");
}
