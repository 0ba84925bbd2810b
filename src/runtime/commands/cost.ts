/** `/cost` and `oxbow cost`: the spending of one session, or of all of them by model, day or project; and `/budget`. */

import { homedir } from "node:os";
import { join } from "node:path";
import { formatBudget, formatTokens, formatUsd, parseBudget } from "../../base/budget-text.js";
import { groupDigits } from "../../base/group-digits.js";
import { midnight, parseMoment } from "../../base/moment.js";
import { UsageError } from "../../base/usage-error.js";
import { BUDGET } from "../../commands/catalogue/conversation.js";
import { COST, COST_WAYS } from "../../commands/catalogue/cost.js";
import {
  asValue,
  type Command,
  type CommandArguments,
  type CommandContext,
  type CommandResult,
  refuse,
} from "../../commands/command.js";
import type { Amount, BudgetLimit } from "../../costs/budget.js";
import type { HeldPart } from "../../costs/day-budget.js";
import type { SessionId } from "../../protocol/ids.js";
import type { SessionStore, Spending } from "../../sessions/store.js";
import type { Roots } from "../../system/xdg-paths.js";
import {
  type BudgetState,
  byModel,
  costText,
  dearestFirst,
  groupBy,
  type Line,
  lineTable,
  type SessionCosts,
  sessionReport,
  tokensOf,
  total,
} from "./cost-report.js";

type Way = (typeof COST_WAYS)[number];
const HEADERS: Readonly<Record<Way, string>> = { model: "MODEL", day: "DAY", project: "PROJECT", variant: "VARIANT" };
const DAYS = 30;
const DAY_MS = 86_400_000;

export interface CostPort {
  /** The spending of all stored sessions; undefined if none is stored. */
  spending(query: { readonly since?: string; readonly cwd?: string }): Promise<readonly Spending[] | undefined>;
  /** The prompt variant that a stored session got. */
  readonly variantOf: (session: SessionId) => Promise<string | undefined>;
  readonly folder: string;
  readonly wall: () => number;
  /** The costs of the open session. */
  readonly session?: () => Promise<SessionCosts>;
  /** Where the budgets of days are. */
  readonly roots: Pick<Roots, "state">;
}

const REPORT_FLAGS = ["by", "since", "all", "here"];

export function costCommand(port: CostPort): Command {
  return {
    ...COST,
    run: async (args, context) => {
      const isReport = REPORT_FLAGS.some((name) => args.hasFlag(name));
      try {
        const reserved = await reservations(port);
        if (port.session !== undefined && !isReport) return await ofSession(await port.session(), reserved);
        return await ofAll(args, port, { ...context, reserved });
      } catch (error) {
        if (error instanceof UsageError) return refuse(error.message);
        throw error;
      }
    },
  };
}

type Reserved = Awaited<ReturnType<typeof reservations>>;

async function reservations({ roots, wall }: CostPort) {
  const { readReservations } = await import("../../costs/day-budget.js");
  return readReservations(join(roots.state, "budget"), wall());
}

/** Says what of the budget of the day is held, and why. */
function reservedText({ held, killed }: Reserved): readonly string[] {
  const reasonOf = ({ isKilled, pid, session }: HeldPart) => {
    const answer = `for an answer${session === undefined ? "" : ` in session ${session}`}`;
    return isKilled
      ? `${answer}: process ${pid} was killed, and the next call with this budget settles it by the log`
      : `${answer} that process ${pid} waits for`;
  };
  const lines = held.map((part) => `${amountText(part)} of today's budget is held ${reasonOf(part)}.`);
  if (killed.answers === 0) return lines;
  const answers = killed.answers === 1 ? "1 killed answer counts" : `${killed.answers} killed answers count`;
  return [...lines, `${answers} ${amountText(killed)} in today's budget, and nothing in the sums.`];
}

function amountText({ usd, tokens }: Amount): string {
  return `${formatTokens(tokens)} (${formatUsd(usd)})`;
}

async function ofSession(costs: SessionCosts, reserved: Reserved): Promise<CommandResult> {
  const { rows, budgets } = costs;
  const value = {
    total: withKnownCost(total(rows)),
    lines: byModel(rows).map(withKnownCost),
    budgets: budgets.map(budgetJson),
    day: reserved,
  };
  const text = [await sessionReport(costs), ...reservedText(reserved)].join("\n\n");
  return { text, value: asValue(value) };
}

async function ofAll(
  args: CommandArguments,
  port: CostPort,
  { screen, reserved }: CommandContext & { readonly reserved: Reserved },
): Promise<CommandResult> {
  const way = wayOf(args);
  const since = sinceOf(args, port.wall());
  const rows = await port.spending({
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(args.hasFlag("here") && { cwd: port.folder }),
  });
  if (rows === undefined) return refuse("Sessions are not stored here ('none').");
  const lines = way === "variant" ? await byVariant(rows, port) : linesOf(rows, way);
  const table = report(lines, { way, since, rows, width: screen?.width, color: screen?.color ?? false });
  return {
    text: [table, ...reservedText(reserved)].join("\n\n"),
    value: asValue({ ...asJson(rows, { way, since, lines }), day: reserved }),
  };
}

export interface BudgetPort {
  budgets(): Promise<readonly BudgetState[]>;
  setBudget(limit: BudgetLimit | undefined): Promise<void>;
}

export function budgetCommand(port: BudgetPort): Command {
  return {
    ...BUDGET,
    run: async (args) => {
      const amount = args.text("AMOUNT");
      if (amount !== undefined) {
        const limit = amount === "off" ? {} : parseBudget(amount);
        if (limit === undefined) return refuse("Use /budget 0.50, /budget 200k tokens or /budget off.");
        await port.setBudget(amount === "off" ? undefined : limit);
      }
      const budgets = await port.budgets();
      const lines = budgets.map(({ scope, limit, spent }) => {
        const used = spent === undefined ? "" : `, ${formatBudget(inUnitsOf(limit, spent))} spent`;
        return `${scope}: ${formatBudget(limit)}${used}`;
      });
      const text = lines.length === 0 ? "No budget is set. /budget 0.50 sets one for this run." : lines.join("\n");
      return { text, value: { budgets: budgets.map(budgetJson) } };
    },
  };
}

function budgetJson({ scope, limit, spent }: BudgetState) {
  return { scope, limit: { ...limit }, ...(spent !== undefined && { spent: { ...spent } }) };
}

/** Only the units of the limit. */
function inUnitsOf(limit: BudgetLimit, { usd, tokens }: Amount): BudgetLimit {
  return { ...(limit.usd !== undefined && { usd }), ...(limit.tokens !== undefined && { tokens }) };
}

/** What the log of a session says. */
export async function variantIn(
  store: Pick<SessionStore, "last" | "events">,
  session: SessionId,
): Promise<string | undefined> {
  const begun = await store.last(session, "TurnStarted");
  if (begun === undefined) return undefined;
  for await (const event of store.events(session, { after: begun - 1, limit: 1 }))
    return event.kind === "TurnStarted" ? event.payload.variant : undefined;
  return undefined;
}

/** Each with the number of its sessions and what one costs, so that they can be compared. */
async function byVariant(rows: readonly Spending[], { variantOf }: CostPort): Promise<readonly Line[]> {
  const variants = new Map<SessionId, string>();
  for (const session of new Set(rows.map((row) => row.session)))
    variants.set(session, (await variantOf(session)) ?? "(none)");
  return groupBy(rows, ({ session }) => variants.get(session) ?? "")
    .map((line) => {
      const sessions = [...variants.values()].filter((name) => name === line.name).length;
      const each = line.unpriced === line.calls ? "" : `, ${formatUsd(line.usd / sessions)} each`;
      return { ...line, variant: line.name, sessions, name: `${line.name} (${counted(sessions)}${each})` };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function counted(sessions: number): string {
  return `${groupDigits(sessions)} session${sessions === 1 ? "" : "s"}`;
}

function linesOf(rows: readonly Spending[], way: Exclude<Way, "variant">): readonly Line[] {
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
  if (lines.length === 0) return `No costs ${time}.`;
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

/** An unknown cost is null, never zero. */
function withKnownCost<T extends { usd: number; calls: number; unpriced: number }>(line: T) {
  return { ...line, usd: line.calls > 0 && line.unpriced === line.calls ? null : line.usd };
}

function wayOf(args: CommandArguments): Way {
  const asked = args.flag("by") ?? "model";
  const way = COST_WAYS.find((each) => each === asked);
  if (way === undefined) throw new UsageError(`--by: expected ${COST_WAYS.join(", ")}, got "${asked}".`);
  return way;
}

/** undefined for all of it. */
function sinceOf(args: CommandArguments, now: number): number | undefined {
  const asked = args.flag("since");
  if (args.hasFlag("all")) {
    if (asked !== undefined) throw new UsageError("Use --since or --all, not both.");
    return undefined;
  }
  if (asked === undefined) return midnight(now - DAYS * DAY_MS);
  const moment = parseMoment(asked, now);
  if (moment !== undefined) return moment;
  throw new UsageError(`--since: expected 7d, 12h, today or a date such as 2026-01-31, got "${asked}".`);
}

/** The day in the local time zone. */
function dayOf(time: string): string {
  const day = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

function shortPath(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
