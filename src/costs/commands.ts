/** `/cost` and `oxbow cost`: the spending of one session, or of all of them by model, day or project; and `/budget`. */

import { homedir } from "node:os";
import { join } from "node:path";
import { formatBudget, formatTokens, formatUsd, parseBudget } from "../base/budget-text.js";
import { groupDigits } from "../base/group-digits.js";
import { midnight, parseMoment } from "../base/moment.js";
import type { SessionStore, Spending } from "../base/session-store.js";
import { UsageError } from "../base/usage-error.js";
import {
  asValue,
  type Command,
  type CommandArguments,
  type CommandContext,
  type CommandOf,
  type CommandResult,
  EVERYONE,
  EVERYWHERE,
  FOLDER,
  IN_SESSION,
  refuse,
  type Subject,
  withPort,
} from "../feature/command.js";
import type { Flag } from "../feature/flags.js";
import type { SessionId } from "../protocol/ids.js";
import { COST_WAYS } from "../protocol/queries.js";
import type { Roots } from "../system/xdg-paths.js";
import type { Amount, BudgetLimit } from "./budget.js";
import type { HeldPart } from "./day-budget.js";
import {
  type BudgetState,
  byModel,
  costText,
  dayOf,
  groupBy,
  type Line,
  linesBy,
  lineTable,
  type SessionCosts,
  sessionReport,
  tokensOf,
  total,
  withKnownCost,
} from "./report.js";

const WAYS = [...COST_WAYS, "variant"] as const;
type Way = (typeof WAYS)[number];
const DAYS = 30;
const DAY_MS = 86_400_000;

export interface CostPort {
  /** The stored sessions; undefined if none are stored. */
  store(): Promise<Pick<SessionStore, "spending" | "last" | "events"> | undefined>;
  readonly folder: string;
  readonly wall: () => number;
  /** The costs and budgets of the open session. */
  readonly session?: {
    sessionCosts(): Promise<SessionCosts>;
    budgets(): Promise<readonly BudgetState[]>;
    setBudget(limit: BudgetLimit | undefined): Promise<void>;
  };
  /** The folders with the budgets of days. */
  readonly roots: Pick<Roots, "state">;
}

const REPORT_FLAGS: readonly Flag[] = [
  {
    name: "by",
    value: "WHAT",
    choices: WAYS,
    help: "model (default), provider, day, project, session, or variant of the prompt",
  },
  {
    name: "since",
    value: "WHEN",
    help: "from this time on: 7d, 12h, today, or a date such as 2026-01-31 (default: 30d)",
  },
  { name: "all", help: "since the first session" },
  { name: "here", help: "only sessions of this folder" },
];

const COST: CommandOf<CostPort> = {
  name: "cost",
  aliases: ["usage"],
  usage: "/cost [--by model|provider|day|project|session|variant] [--since WHEN]",
  summary: "show the spending of this session; with a flag, of all sessions",
  flags: REPORT_FLAGS,
  shellFlags: [{ name: "store", value: "STORE", help: "the store of the sessions, as in the settings" }, FOLDER],
  users: EVERYONE,
  places: EVERYWHERE,
  run: async (args, port, context) => {
    try {
      const reserved = await reservations(port);
      const isReport = REPORT_FLAGS.some(({ name }) => args.hasFlag(name));
      if (port.session !== undefined && !isReport) return await ofSession(await port.session.sessionCosts(), reserved);
      return await ofAll(args, port, { ...context, reserved });
    } catch (error) {
      if (error instanceof UsageError) return refuse(error.message);
      throw error;
    }
  },
};

type Reserved = Awaited<ReturnType<typeof reservations>>;

async function reservations({ roots, wall }: CostPort) {
  const { readReservations } = await import("./day-budget.js");
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
  const store = await port.store();
  if (store === undefined) return refuse("Sessions are not stored here ('none').");
  const rows = await store.spending({
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(args.hasFlag("here") && { cwd: port.folder }),
  });
  const lines = way === "variant" ? await byVariant(rows, store) : linesBy(rows, way);
  const table = report(lines, { way, since, rows, width: screen?.width, color: screen?.color ?? false });
  return {
    text: [table, ...reservedText(reserved)].join("\n\n"),
    value: asValue({ ...asJson(rows, { way, since, lines }), day: reserved }),
  };
}

const BUDGET: CommandOf<CostPort> = {
  name: "budget",
  usage: "/budget [AMOUNT | off]",
  summary: "show the budgets, or set the budget of this run: 0.50, 200k tokens",
  arguments: [{ name: "AMOUNT", kind: "text", optional: true, rest: "text", complete: ["off"] }],
  places: IN_SESSION,
  run: async (args, { session }) => {
    const amount = args.text("AMOUNT");
    if (amount !== undefined) {
      const limit = amount === "off" ? {} : parseBudget(amount);
      if (limit === undefined) return refuse("Use /budget 0.50, /budget 200k tokens or /budget off.");
      await session?.setBudget(amount === "off" ? undefined : limit);
    }
    const budgets = (await session?.budgets()) ?? [];
    const lines = budgets.map(({ scope, limit, spent }) => {
      const used = spent === undefined ? "" : `, ${formatBudget(inUnitsOf(limit, spent))} spent`;
      return `${scope}: ${formatBudget(limit)}${used}`;
    });
    const text = lines.length === 0 ? "No budget is set. /budget 0.50 sets one for this run." : lines.join("\n");
    return { text, value: { budgets: budgets.map(budgetJson) } };
  },
};

const COMMANDS = [COST, BUDGET];

export function costCommands(port: CostPort): readonly Command[] {
  return withPort(COMMANDS, () => port);
}

/** `oxbow cost`; the command line opens the stored sessions. */
export const subject: Subject = {
  name: "cost",
  summary: COST.summary,
  heading: "Models, keys and costs",
  specs: COMMANDS,
  shell: { about: "Shows the spending of all sessions, as far as prices are known." },
};

function budgetJson({ scope, limit, spent }: BudgetState) {
  return { scope, limit: { ...limit }, ...(spent !== undefined && { spent: { ...spent } }) };
}

/** Only the units of the limit. */
function inUnitsOf(limit: BudgetLimit, { usd, tokens }: Amount): BudgetLimit {
  return { ...(limit.usd !== undefined && { usd }), ...(limit.tokens !== undefined && { tokens }) };
}

type SessionLog = Pick<SessionStore, "last" | "events">;

/** Tells what the log of a session says. */
async function variantIn(store: SessionLog, session: SessionId): Promise<string | undefined> {
  const begun = await store.last(session, "TurnStarted");
  if (begun === undefined) return undefined;
  for await (const event of store.events(session, { after: begun - 1, limit: 1 }))
    return event.kind === "TurnStarted" ? event.payload.variant : undefined;
  return undefined;
}

/** Each with the number of its sessions and what one costs, so that they can be compared. */
async function byVariant(rows: readonly Spending[], store: SessionLog): Promise<readonly Line[]> {
  const variants = new Map<SessionId, string>();
  for (const session of new Set(rows.map((row) => row.session)))
    variants.set(session, (await variantIn(store, session)) ?? "(none)");
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
  const parts = [head, lineTable(shown, { header: way.toUpperCase(), width, color, bars: width !== undefined })];
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

function wayOf(args: CommandArguments): Way {
  const asked = args.flag("by") ?? "model";
  const way = WAYS.find((each) => each === asked);
  if (way === undefined) throw new UsageError(`--by: expected ${WAYS.join(", ")}, got "${asked}".`);
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

function shortPath(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
