/** Why a command that was killed may have waited: git and searches open some names by themselves, and one of them can be a named pipe. */
import type { JsonValue } from "../../protocol/json.js";

const OPENS_NAMES = /\b(git|rg|fd|fdfind)\b/;
const SEARCH_MS = 1000;

export async function pipeNote(command: JsonValue | undefined, root: string): Promise<string | undefined> {
  if (typeof command !== "string" || !OPENS_NAMES.test(command)) return undefined;
  const { findWaitingPipe } = await import("../../system/waiting-pipe.js");
  const path = await findWaitingPipe(root, { signal: AbortSignal.timeout(SEARCH_MS) });
  return (
    path && `[${path} is a named pipe. The command may have waited for a program that writes to it; delete the pipe.]`
  );
}
