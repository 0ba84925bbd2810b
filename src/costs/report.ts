/** Spending as text: of a session for `/cost`, of many for `oxbow cost`. Models of different providers are never on one line. */

import { formatBudget, formatUsd } from "../base/budget-text.js";
import { groupDigits } from "../base/group-digits.js";
import type { Spending } from "../base/session-store.js";
import { type Column, renderTable } from "../base/text-table.js";
import type { COST_WAYS } from "../protocol/queries.js";
import { addUsage, NO_USAGE, roundUsd, type Usage } from "../protocol/usage.js";
import type { Amount, BudgetLimit } from "./budget.js";

/** The sum of some calls. */
export interface Total {
  readonly calls: number;
  readonly usage: Usage;
  readonly elapsed_ms: number;
  readonly usd: number;
  readonly unpriced: number;
}

export interface Line extends Total {
  readonly name: string;
}

export function total(rows: readonly Spending[]): Total {
  let usage = NO_USAGE;
  let [calls, elapsed_ms, usd, unpriced] = [0, 0, 0, 0];
  for (const row of rows) {
    usage = addUsage(usage, row.usage);
    calls += row.calls;
    elapsed_ms += row.elapsed_ms;
    usd = roundUsd(usd + row.usd);
    unpriced += row.unpriced;
  }
  return { calls, usage, elapsed_ms, usd, unpriced };
}

export function groupBy(rows: readonly Spending[], nameOf: (row: Spending) => string): Line[] {
  const groups = new Map<string, Spending[]>();
  for (const row of rows) {
    const name = nameOf(row);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return [...groups].map(([name, group]) => ({ name, ...total(group) }));
}

export function byModel(rows: readonly Spending[]): Line[] {
  return [...linesBy(rows, "model")];
}

/** The dearest first; days in their order. */
export function linesBy(rows: readonly Spending[], way: (typeof COST_WAYS)[number]): readonly Line[] {
  const nameOf = ({ provider, model, from, cwd, session }: Spending) =>
    ({ model: `${provider}:${model}`, provider, day: dayOf(from), project: cwd, session })[way];
  const lines = groupBy(rows, nameOf);
  return way === "day" ? lines.sort((a, b) => (a.name < b.name ? -1 : 1)) : lines.sort(dearestFirst);
}

/** The day in the local time zone. */
export function dayOf(time: string): string {
  const day = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

/** An unknown cost is null, never zero. */
export function withKnownCost<T extends Pick<Total, "usd" | "calls" | "unpriced">>(line: T) {
  return { ...line, usd: line.calls > 0 && line.unpriced === line.calls ? null : line.usd };
}

function dearestFirst(a: Total, b: Total): number {
  return b.usd - a.usd || tokensOf(b) - tokensOf(a);
}

/** `$0.04`; `≥ $0.04` if some calls have no known price; `unknown` if none has. */
export function costText({ usd, calls, unpriced }: Pick<Total, "usd" | "calls" | "unpriced">): string {
  if (calls > 0 && unpriced === calls) return "unknown";
  return `${unpriced > 0 ? "≥ " : ""}${formatUsd(usd)}`;
}

export function tokensOf({ usage }: Pick<Total, "usage">): number {
  return usage.input + usage.output + usage.cache_read + usage.cache_write;
}

export interface LineTableOptions {
  readonly header: string;
  readonly width?: number | undefined;
  readonly color: boolean;
  /** Also show a bar for the share of each line. */
  readonly bars?: boolean;
}

export function lineTable(lines: readonly Line[], { header, width, color, bars }: LineTableOptions): string {
  const longest = Math.max(...lines.map(weightOf), 0);
  const columns: Column<Line>[] = [
    { header, value: ({ name }) => name, priority: 9, minWidth: 12 },
    { header: "CALLS", value: ({ calls }) => count(calls), align: "right", priority: 3 },
    { header: "INPUT", value: ({ usage }) => count(usage.input), align: "right", priority: 5 },
    { header: "CACHE READ", value: ({ usage }) => count(usage.cache_read), align: "right", priority: 2 },
    { header: "CACHE WRITE", value: ({ usage }) => count(usage.cache_write), align: "right", priority: 1 },
    { header: "OUTPUT", value: ({ usage }) => count(usage.output), align: "right", priority: 5 },
    { header: "COST", value: costText, align: "right", priority: 8 },
  ];
  const barOf = (line: Line) => bar(longest === 0 ? 0 : weightOf(line) / longest);
  const withBars = bars ? [...columns, { header: "", value: barOf, priority: 4, minWidth: BAR }] : columns;
  const used = withBars.filter(({ header: name, value }) =>
    name !== "CACHE READ" && name !== "CACHE WRITE" ? true : lines.some((line) => value(line) !== "0"),
  );
  return renderTable(used, lines, { width, color });

  /** Bars compare dollars, or tokens if nothing has a price. */
  function weightOf(line: Line): number {
    return lines.some(({ usd }) => usd > 0) ? line.usd : tokensOf(line);
  }
}

const BAR = 24;
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

function bar(share: number): string {
  const eighths = Math.round(share * BAR * 8);
  const text = "█".repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
  return text === "" && share > 0 ? "▏" : text;
}

export interface BudgetState {
  readonly scope: string;
  readonly limit: BudgetLimit;
  readonly spent?: Amount;
}

/** US dollars per million tokens. */
interface Rates {
  readonly input: number;
  readonly output: number;
}

interface Price extends Rates {
  readonly cache_read?: number;
  readonly cache_write?: number;
  readonly tiers?: readonly (Rates & { readonly over: number })[];
}

/** The list of prices. */
export interface Prices {
  facts(model: { readonly provider: string; readonly model: string }): Promise<{
    readonly price?: Price;
    readonly source?: string;
    readonly note?: string;
  }>;
  date(): Promise<string>;
}

/** Describes what one session has spent, and what is needed to show it. */
export interface SessionCosts {
  readonly rows: readonly Spending[];
  readonly catalogue: Prices;
  readonly budgets: readonly BudgetState[];
}

export async function sessionReport({ rows, catalogue, budgets }: SessionCosts): Promise<string> {
  if (rows.length === 0) return "This session has cost nothing yet.";
  const lines = byModel(rows);
  const all = total(rows);
  const rates = await Promise.all(lines.map((line) => rateLine(line, catalogue)));
  const parts = [
    `This session: ${costText(all)} · ${count(tokensOf(all) - all.usage.output)} in · ${count(all.usage.output)} out · ${count(all.calls)} call${all.calls === 1 ? "" : "s"}`,
    lineTable(lines, { header: "MODEL", color: false }),
    [`US dollars per million tokens (models.dev, ${await catalogue.date()}):`, ...rates].join("\n"),
  ];
  const limited = budgets.map(({ scope, limit }) => `${scope} ${formatBudget(limit)}`);
  if (limited.length > 0) parts.push(`Budgets: ${limited.join("; ")}`);
  return parts.join("\n\n");
}

async function rateLine({ name, calls, unpriced }: Line, catalogue: Prices): Promise<string> {
  // Another server behind a provider's name: the list prices are not its own.
  if (unpriced === calls) return `  ${name}: unknown${unknownAdvice(name)}`;
  const colon = name.indexOf(":");
  const { price, source, note } = await catalogue.facts({
    provider: name.slice(0, colon),
    model: name.slice(colon + 1),
  });
  const from = source === "profile" ? " (your profile)" : note === undefined ? "" : ` (${note})`;
  return `  ${name}: ${price === undefined ? "unknown" : rateText(price)}${price === undefined && source !== "profile" ? unknownAdvice(name) : from}`;
}

function unknownAdvice(name: string): string {
  return ` (to give it: [models."${name}"] price_input and price_output in the profile)`;
}

function rateText(price: Price): string {
  if (price.input === 0 && price.output === 0) return "free";
  const cached = [
    ...(price.cache_read === undefined ? [] : [`cache read ${price.cache_read}`]),
    ...(price.cache_write === undefined ? [] : [`cache write ${price.cache_write}`]),
  ];
  const tiers = (price.tiers ?? []).map(({ over, input, output }) => `over ${count(over)} tokens ${input}/${output}`);
  return [`input ${price.input}`, `output ${price.output}`, ...cached, ...tiers].join(", ");
}

function count(value: number): string {
  return groupDigits(value);
}
