/** The rows of `spending`: written in the transaction that writes the events, so that the two never disagree. */
import type { EventPayloads } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import type { Bindable } from "../../system/sqlite/bindable.js";
import type { Database } from "../../system/sqlite/database.js";
import type { PreparedEvent } from "../log-rules.js";
import { isCounted } from "../spending.js";
import { SPENDING_MS, type Spending, type SpendingFilter } from "../store.js";
import { toMilliseconds, toTimestamp } from "../timestamp.js";
import type { Names } from "./names.js";
import type { Head } from "./session-table.js";

const ROW = {
  id: "text",
  cwd: "text",
  quarter: "integer",
  provider: ["integer", "spending.provider"],
  model: ["integer", "spending.model"],
  calls: "integer",
  input: "integer",
  output: "integer",
  cache_read: "integer",
  cache_write: "integer",
  reasoning: "integer",
  elapsed_ms: "integer",
  nano_usd: "integer",
  unpriced: "integer",
} as const;

const NANO = 1e9;

/** A call in its stored form. */
export interface PaidCall {
  readonly quarter: number;
  readonly provider: string;
  readonly model: string;
  /** Tokens of five kinds, milliseconds, thousand-millionths of a dollar, and 1 when its price was not known. */
  readonly numbers: readonly number[];
}

export function paidCalls(events: readonly PreparedEvent[]): PaidCall[] {
  return events.flatMap(({ kind, at, json }) => {
    const paid = kind === "CostIncremented" ? (JSON.parse(json) as EventPayloads["CostIncremented"]) : undefined;
    if (paid === undefined || !isCounted(paid)) return [];
    const { provider, model, usage, elapsed_ms, cost } = paid;
    const tokens = [usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning];
    const numbers = [...tokens, elapsed_ms, (cost?.usd ?? 0) * NANO, cost === undefined ? 1 : 0].map(count);
    return [{ quarter: Math.floor(at / SPENDING_MS), provider, model, numbers }];
  });
}

export class SpendingTable {
  readonly #database: Database;
  readonly #names: Names;

  constructor(database: Database, names: Names) {
    this.#database = database;
    this.#names = names;
  }

  /** Inside the transaction of the append. */
  add({ number }: Head, calls: readonly PaidCall[]): void {
    for (const { quarter, provider, model, numbers } of calls) {
      this.#database.run(
        `INSERT INTO spending (session, quarter, provider, model, calls, input, output, cache_read, cache_write, reasoning,
           elapsed_ms, nano_usd, unpriced) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (session, quarter, provider, model) DO UPDATE SET calls = calls + 1, input = input + excluded.input,
           output = output + excluded.output, cache_read = cache_read + excluded.cache_read,
           cache_write = cache_write + excluded.cache_write, reasoning = reasoning + excluded.reasoning,
           elapsed_ms = elapsed_ms + excluded.elapsed_ms, nano_usd = nano_usd + excluded.nano_usd,
           unpriced = unpriced + excluded.unpriced`,
        [number, quarter, this.#names.numberOf(provider), this.#names.numberOf(model), ...numbers],
      );
    }
  }

  list({ session, cwd, since }: SpendingFilter): Spending[] {
    const where: string[] = [];
    const values: Bindable[] = [];
    const only = (condition: string, value: Bindable | undefined) => {
      if (value === undefined) return;
      where.push(condition);
      values.push(value);
    };
    only("sessions.id = ?", session);
    only("cwd = ?", cwd);
    only("quarter >= ?", since === undefined ? undefined : Math.floor(toMilliseconds(since) / SPENDING_MS));
    const condition = where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`;
    const rest = `FROM spending JOIN sessions ON sessions.number = spending.session ${condition} ORDER BY quarter, number`;
    return this.#database.selectMany(ROW, rest, values).map((row) => ({
      session: row.id as SessionId,
      cwd: row.cwd,
      provider: this.#names.nameOf(row.provider),
      model: this.#names.nameOf(row.model),
      from: toTimestamp(row.quarter * SPENDING_MS),
      calls: row.calls,
      usage: {
        input: row.input,
        output: row.output,
        cache_read: row.cache_read,
        cache_write: row.cache_write,
        reasoning: row.reasoning,
      },
      elapsed_ms: row.elapsed_ms,
      usd: row.nano_usd / NANO,
      unpriced: row.unpriced,
    }));
  }

  delete({ number }: Head): void {
    this.#database.run("DELETE FROM spending WHERE session = ?", [number]);
  }
}

/** A provider may send anything; the row takes only integers. */
function count(value: number): number {
  const whole = Math.round(value);
  return Number.isSafeInteger(whole) && whole > 0 ? whole : 0;
}
