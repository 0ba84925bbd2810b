import { parseMoment } from "../../../base/moment.js";
import { UsageError } from "../../../base/usage-error.js";
import { asValue, COMMAND_EXIT, type CommandArguments, type CommandContext } from "../../../feature/command.js";
import type { PassageKind } from "../../../sessions/passages.js";
import { type SearchedKind, type SearchOptions, searchedSessions, searchSessions } from "../../../sessions/search.js";
import { parseSearchQuery } from "../../../sessions/search-query.js";
import { named, type OpenPort, type SessionAction } from "./port.js";
import { type FoundPlace, renderHit, toSearchHit } from "./render-hit.js";

const MOST = 20;
const NOTHING = "Nothing was found.";
const PARTS: readonly SearchedKind[] = ["input", "answer", "call", "result", "title"];

/** Shows each match as soon as it is found. */
export const search: SessionAction = async (args, port, context) => {
  const query = args.text("WORDS")?.trim() ?? "";
  if (query === "")
    throw new UsageError('Give the words to search for: oxbow session search WORDS "a phrase" -without');
  const options = await optionsOf(args, port, context);
  const look = { color: context.screen?.color ?? false };
  const hits: FoundPlace[] = [];
  const found = args.hasFlag("best") ? bestMatches(query, port, options) : searchSessions(port.store, query, options);
  for await (const hit of found) {
    hits.push(hit);
    if (context.wants !== "value") await context.write(renderHit(hit, look, port.clock.wall()));
  }
  if (hits.length > 0) return { text: "", value: asValue(hits) };
  // The output for a script stays empty.
  if (context.surface === "shell") context.warn(NOTHING);
  return { text: context.surface === "shell" ? "" : NOTHING, value: [], exitCode: COMMAND_EXIT.failed };
};

async function* bestMatches(query: string, { store }: OpenPort, options: SearchOptions): AsyncGenerator<FoundPlace> {
  const { recallPassages } = await import("../../../sessions/recall.js");
  const ranges = (await searchedSessions(store, options)).map((record) => ({ record }));
  const { kinds, ...rest } = options;
  const passages = kinds && new Set([...kinds].filter((kind): kind is PassageKind => kind !== "title"));
  const { words, phrases, unwanted } = parseSearchQuery(query);
  if (words === "") throw new UsageError("Give at least one word to search for; -word only excludes.");
  const wanted = { ...rest, phrases, unwanted, ...(passages && { kinds: passages }) };
  const hits = await recallPassages(store, { query: words, ranges }, wanted);
  yield* hits.map(toSearchHit);
}

async function optionsOf(args: CommandArguments, port: OpenPort, context: CommandContext): Promise<SearchOptions> {
  const limit = Number(args.flag("limit") ?? MOST);
  if (!Number.isInteger(limit) || limit < 1) throw new UsageError("--limit: expected a whole number from 1.");
  const parts = args.flags("in").flatMap((part) => part.split(","));
  const unknown = parts.find((part) => !(PARTS as readonly string[]).includes(part));
  if (unknown !== undefined) throw new UsageError(`--in: expected ${PARTS.join(", ")}, got "${unknown}".`);
  const session = args.flag("session");
  const moment = (flag: "since" | "until") => momentOf(flag, args.flag(flag), port.clock.wall());
  return {
    limit,
    signal: context.signal,
    ...(args.hasFlag("here") && { cwd: port.folder }),
    ...(session !== undefined && { session: (await named(session, port)).id }),
    ...(parts.length > 0 && { kinds: new Set(parts as SearchedKind[]) }),
    since: moment("since"),
    until: moment("until"),
    onProgress: ({ sessions, of }) => context.progress(`${sessions} of ${of} sessions`),
    onUnreadable: (id, message) => context.warn(`${id} was skipped: ${message}`),
  };
}

function momentOf(flag: string, text: string | undefined, now: number): string | undefined {
  if (text === undefined) return undefined;
  const moment = parseMoment(text, now);
  if (moment !== undefined) return new Date(moment).toISOString();
  throw new UsageError(`--${flag}: expected 7d, 12h, today or a date such as 2026-01-31, got "${text}".`);
}
