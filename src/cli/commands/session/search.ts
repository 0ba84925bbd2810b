import { paint } from "../../../base/terminal-style.js";
import { safeLine } from "../../../base/terminal-text.js";
import { ago } from "../../../base/text-table.js";
import { UsageError } from "../../../base/usage-error.js";
import type { Terminal } from "../../../clients/headless/terminal.js";
import { type SearchHit, searchSessions } from "../../../sessions/search.js";
import { EXIT } from "../../exit-codes.js";
import { StatusLine } from "../../status-line.js";
import type { SessionAction } from "./session-action.js";

const MOST = 20;

export const action: SessionAction = {
  flags: [
    { name: "here", help: "only in sessions of this folder" },
    { name: "limit", short: "n", value: "N", help: `at most so many places (default ${MOST})` },
  ],
  async run(flags, sessions) {
    const query = flags.words.join(" ").trim();
    if (query === "") throw new UsageError('Say what to look for: oxbow session search WORDS "a phrase" -without');
    const limit = Number(flags.text("limit") ?? MOST);
    if (!Number.isInteger(limit) || limit < 1) throw new UsageError("--limit: expected a whole number from 1.");
    const hits: SearchHit[] = [];
    const status = new StatusLine(sessions.terminal);
    const options = {
      limit,
      ...(flags.has("here") && { cwd: sessions.folder }),
      onProgress: (progress: { readonly sessions: number; readonly of: number }) =>
        status.show(`${progress.sessions} of ${progress.of} sessions`),
      onUnreadable: (session: string, message: string) => {
        status.clear();
        sessions.terminal.err.write(`oxbow: ${session} was passed over: ${message}\n`);
      },
    };
    for await (const hit of searchSessions(sessions.store, query, options)) {
      status.clear();
      if (flags.has("json")) hits.push(hit);
      else await sessions.write(rendered(hit, sessions.terminal, sessions.clock.wall()));
      if (!flags.has("json")) hits.push(hit);
    }
    status.clear();
    if (flags.has("json")) sessions.print(flags, hits, () => "");
    else if (hits.length === 0) sessions.terminal.err.write("Nothing was found.\n");
    return hits.length === 0 ? EXIT.failed : EXIT.answered;
  },
};

function rendered({ session, title, turn, ts, snippet, ranges }: SearchHit, terminal: Terminal, now: number): string {
  const look = { color: terminal.color && terminal.out.isTerminal };
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
