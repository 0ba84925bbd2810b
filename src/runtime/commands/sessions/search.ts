import { paint } from "../../../base/terminal-style.js";
import { safeLine } from "../../../base/terminal-text.js";
import { ago } from "../../../base/text-table.js";
import { UsageError } from "../../../base/usage-error.js";
import { asValue, COMMAND_EXIT } from "../../../commands/command.js";
import { type SearchHit, searchSessions } from "../../../sessions/search.js";
import type { SessionAction } from "./port.js";

const MOST = 20;
const NOTHING = "Nothing was found.";

/** Each place is shown as soon as it is found. */
export const search: SessionAction = async (args, { store, folder, clock }, context) => {
  const query = args.text("WORDS")?.trim() ?? "";
  if (query === "")
    throw new UsageError('Give the words to search for: oxbow session search WORDS "a phrase" -without');
  const limit = Number(args.flag("limit") ?? MOST);
  if (!Number.isInteger(limit) || limit < 1) throw new UsageError("--limit: expected a whole number from 1.");
  const hits: SearchHit[] = [];
  const options = {
    limit,
    ...(args.hasFlag("here") && { cwd: folder }),
    onProgress: (progress: { readonly sessions: number; readonly of: number }) =>
      context.progress(`${progress.sessions} of ${progress.of} sessions`),
    onUnreadable: (session: string, message: string) => context.warn(`${session} was passed over: ${message}`),
  };
  const look = { color: context.screen?.color ?? false };
  for await (const hit of searchSessions(store, query, options)) {
    hits.push(hit);
    if (context.wants !== "value") await context.write(rendered(hit, look, clock.wall()));
  }
  if (hits.length > 0) return { text: "", value: asValue(hits) };
  // What a script reads stays empty.
  if (context.surface === "shell") context.warn(NOTHING);
  return { text: context.surface === "shell" ? "" : NOTHING, value: [], exitCode: COMMAND_EXIT.failed };
};

function rendered(hit: SearchHit, look: { readonly color: boolean }, now: number): string {
  const { session, title, turn, ts, snippet, ranges } = hit;
  const place = turn === 0 ? "title" : `turn ${turn}`;
  const where = `${session}  ${place}  ${ago(now - Date.parse(ts))}  ${safeLine(title ?? "")}`;
  let shown = "";
  let at = 0;
  for (const [from, to] of ranges) {
    shown += safeLine(snippet.slice(at, from)) + paint(look, "bold", safeLine(snippet.slice(from, to)));
    at = to;
  }
  return `${paint(look, "dim", where)}\n    ${shown}${safeLine(snippet.slice(at))}\n`;
}
