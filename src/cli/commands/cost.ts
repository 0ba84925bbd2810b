/** `oxbow cost` (feature M14): what was spent, over all sessions, by model, day or project. */

import { homedir } from "node:os";
import { parseDuration } from "../../base/duration.js";
import { groupDigits } from "../../base/group-digits.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { type Flag, helpLines, type ParsedFlags, parseFlags } from "../../commands/flags.js";
import {
  byModel,
  costText,
  dearestFirst,
  groupBy,
  type Line,
  lineTable,
  tokensOf,
  total,
} from "../../runtime/commands/cost-report.js";
import type { Spending } from "../../sessions/store.js";
import { EXIT } from "../exit-codes.js";
import { openSessions } from "./session/open-sessions.js";

const FLAGS: readonly Flag[] = [
  { name: "by", value: "WHAT", help: "model (default), day or project" },
  { name: "since", value: "WHEN", help: "from then on: 7d, 12h, today, or a date such as 2026-01-31 (default: 30d)" },
  { name: "all", help: "since the first session" },
  { name: "here", help: "only sessions of this folder" },
  { name: "json", help: "for programs" },
  { name: "store", value: "STORE", help: "sqlite, files or files:DIR" },
  { name: "cwd", value: "DIR", help: "the folder that is meant (default: where you are)" },
  { name: "help", short: "h", help: "show this help" },
];

const WAYS = ["model", "day", "project"] as const;
type Way = (typeof WAYS)[number];
const HEADERS: Readonly<Record<Way, string>> = { model: "MODEL", day: "DAY", project: "PROJECT" };
const DAYS = 30;
const DAY_MS = 86_400_000;

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const flags = parseFlags(FLAGS, args, "cost");
  if (flags.has("help")) {
    process.stdout.write(
      `Usage: oxbow cost [--by model|day|project] [--since WHEN]\n\nWhat was spent, as far as prices are known.\n\n${helpLines(FLAGS)}\n`,
    );
    return EXIT.answered;
  }
  if (flags.words.length > 0)
    throw new UsageError(`'oxbow cost' takes no words: ${flags.words.join(" ")}. See 'oxbow cost --help'.`);
  const way = wayOf(flags);
  const now = Date.now();
  const since = sinceOf(flags, now);
  const sessions = await openSessions(flags, variables);
  try {
    const rows = await sessions.store.spending({
      ...(since !== undefined && { since: new Date(since).toISOString() }),
      ...(flags.has("here") && { cwd: sessions.folder }),
    });
    const lines = linesOf(rows, way);
    const { color } = sessions.terminal;
    sessions.print(flags, asJson(rows, { way, since, lines }), () =>
      report(lines, { way, since, rows, width: process.stdout.columns, color }),
    );
    return EXIT.answered;
  } finally {
    await sessions.close();
  }
}

function linesOf(rows: readonly Spending[], way: Way): readonly Line[] {
  if (way === "model") return byModel(rows);
  if (way === "project") return groupBy(rows, ({ cwd }) => cwd).sort(dearestFirst);
  return groupBy(rows, ({ from }) => dayOf(from)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

interface ReportOptions {
  readonly way: Way;
  readonly since: number | undefined;
  readonly rows: readonly Spending[];
  readonly width: number | undefined;
  readonly color: boolean;
}

function report(lines: readonly Line[], { way, since, rows, width, color }: ReportOptions): string {
  const time = since === undefined ? "so far" : `since ${dayOf(new Date(since).toISOString())}`;
  if (lines.length === 0) return `Nothing was spent ${time}.`;
  const all = total(rows);
  const count = (value: number) => groupDigits(value);
  const sessions = new Set(rows.map(({ session }) => session)).size;
  const head = `${costText(all)} ${time} · ${count(tokensOf(all))} tokens · ${count(all.calls)} call${all.calls === 1 ? "" : "s"} · ${count(sessions)} session${sessions === 1 ? "" : "s"}`;
  const shown = way === "project" ? lines.map((line) => ({ ...line, name: shortPath(line.name) })) : lines;
  const parts = [head, lineTable(shown, { header: HEADERS[way], width, color, bars: width !== undefined })];
  const unknown = byModel(rows.filter(({ unpriced }) => unpriced > 0)).map(({ name }) => name);
  if (unknown.length > 0)
    parts.push(
      `No price is known for ${count(all.unpriced)} of the calls (${unknown.join(", ")}): they are not in the sums.`,
    );
  return parts.join("\n\n");
}

function asJson(
  rows: readonly Spending[],
  { way, since, lines }: { readonly way: Way; readonly since: number | undefined; readonly lines: readonly Line[] },
) {
  return {
    by: way,
    since: since === undefined ? null : new Date(since).toISOString(),
    total: withKnownCost(total(rows)),
    lines: lines.map(withKnownCost),
  };
}

/** A cost that is not known is null, never a zero. */
function withKnownCost<T extends { usd: number; calls: number; unpriced: number }>(line: T) {
  return { ...line, usd: line.calls > 0 && line.unpriced === line.calls ? null : line.usd };
}

function wayOf(flags: ParsedFlags): Way {
  const asked = flags.text("by") ?? "model";
  const way = WAYS.find((each) => each === asked);
  if (way === undefined) throw new UsageError(`--by: expected ${WAYS.join(", ")}, got "${asked}".`);
  return way;
}

/** undefined for all of it. */
function sinceOf(flags: ParsedFlags, now: number): number | undefined {
  const asked = flags.text("since");
  if (flags.has("all")) {
    if (asked !== undefined) throw new UsageError("Use --since or --all, not both.");
    return undefined;
  }
  if (asked === undefined) return midnight(now - DAYS * DAY_MS);
  if (asked === "today") return midnight(now);
  const days = /^(\d{1,5})d$/.exec(asked)?.[1];
  if (days !== undefined) return midnight(now - Number(days) * DAY_MS);
  const date = /^\d{4}-\d{2}-\d{2}$/.test(asked) ? new Date(`${asked}T00:00`).getTime() : Number.NaN;
  if (!Number.isNaN(date)) return date;
  const duration = parseDuration(asked);
  if (duration !== undefined && duration > 0) return now - duration;
  throw new UsageError(`--since: expected 7d, 12h, today or a date such as 2026-01-31, got "${asked}".`);
}

function midnight(wall: number): number {
  const day = new Date(wall);
  day.setHours(0, 0, 0, 0);
  return day.getTime();
}

/** The day as the user's calendar has it. */
function dayOf(time: string): string {
  const day = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

function shortPath(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
