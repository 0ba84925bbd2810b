/** Named pipes that keep a command waiting: git and searches open some names by themselves, and one of them can be a named pipe. */
import type { JsonValue } from "../../protocol/json.js";
import { findWaitingPipe, PipeWatch } from "../../system/waiting-pipe.js";

const OPENS_NAMES = /\b(git|rg|fd|fdfind)\b/;
const IS_ONE = /^\s*(git|rg|fd|fdfind)\s[^;&|`$()<>\n]*$/;
const SEARCH_MS = 1000;
const SILENT_MS = 2000;

/** Tells why a command that was killed may have waited. */
export async function pipeNote(command: JsonValue | undefined, root: string): Promise<string | undefined> {
  if (typeof command !== "string" || !OPENS_NAMES.test(command)) return undefined;
  const path = await findWaitingPipe(root, { signal: AbortSignal.timeout(SEARCH_MS) });
  return (
    path && `[${path} is a named pipe. The command may have waited for a program that writes to it; delete the pipe.]`
  );
}

/** Watches a command that is one such program, so that no other part of it can write to the pipe. */
export function watchPipes(
  command: JsonValue | undefined,
  { root, onFound }: { readonly root: string; readonly onFound: (why: string) => void },
): PipeWatch | undefined {
  if (typeof command !== "string" || !IS_ONE.test(command)) return undefined;
  return new PipeWatch({
    root,
    silentMs: SILENT_MS,
    onFound: (path) =>
      onFound(`The command waits for ${path}, which is a named pipe and not a file, and was stopped. Delete the pipe.`),
  });
}
