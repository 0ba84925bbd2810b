/**
 * The spending of a session, read from its log. There is no second file that could disagree with it: the few lines with a
 * cost are found by their bytes, and only those are read as JSON.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import type { EnvelopeOf } from "../../protocol/envelope.js";
import { addUsage, NO_USAGE } from "../../protocol/usage.js";
import { isCounted } from "../spending.js";
import { SPENDING_MS, type Spending } from "../store.js";
import type { SessionConf } from "./session-conf.js";

const CHUNK_BYTES = 1024 * 1024;
const NEEDLE = Buffer.from('"kind":"CostIncremented"');
const LINE_FEED = 10;
/** Between the start of a line and its kind: `{"id":123,`. */
const BEFORE_KIND = 32;

export type SpendingConf = Pick<SessionConf, "id" | "cwd" | "copied_to">;

export function readSpending(path: string, conf: SpendingConf, since: number | undefined): Spending[] {
  const found = statSync(path, { throwIfNoEntry: false });
  // Nothing was added since then.
  if (found === undefined || (since !== undefined && found.mtimeMs < since)) return [];
  const rows = new Map<string, Spending>();
  for (const line of linesWithCost(path)) {
    const event = parsed(line);
    if (event === undefined || event.id <= conf.copied_to || !isCounted(event.payload)) continue;
    const quarter = Math.floor(Date.parse(event.ts) / SPENDING_MS);
    if (since !== undefined && quarter < Math.floor(since / SPENDING_MS)) continue;
    const { provider, model } = event.payload;
    const key = `${quarter} ${provider} ${model}`;
    rows.set(key, added(rows.get(key) ?? emptyRow(conf, event, quarter), event));
  }
  return [...rows.values()];
}

function emptyRow({ id, cwd }: SpendingConf, { payload }: EnvelopeOf<"CostIncremented">, quarter: number): Spending {
  const { provider, model } = payload;
  const from = new Date(quarter * SPENDING_MS).toISOString();
  return { session: id, cwd, provider, model, from, calls: 0, usage: NO_USAGE, elapsed_ms: 0, usd: 0, unpriced: 0 };
}

function added(row: Spending, { payload: { usage, elapsed_ms, cost } }: EnvelopeOf<"CostIncremented">): Spending {
  return {
    ...row,
    calls: row.calls + 1,
    usage: addUsage(row.usage, usage),
    elapsed_ms: row.elapsed_ms + elapsed_ms,
    usd: Math.round((row.usd + (cost?.usd ?? 0)) * 1e9) / 1e9,
    unpriced: row.unpriced + (cost === undefined ? 1 : 0),
  };
}

/** A damaged line does not hide the others; `verify` reports it. */
function parsed(line: string): EnvelopeOf<"CostIncremented"> | undefined {
  try {
    return JSON.parse(line) as EnvelopeOf<"CostIncremented">;
  } catch {
    return undefined;
  }
}

/** Synchronous: reports look at every session, and there is little else to do meanwhile. */
function* linesWithCost(path: string): Generator<string> {
  const file = openSync(path, "r");
  try {
    let rest: Buffer = Buffer.alloc(0);
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, fstatSync(file).size + 1));
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
      const bytes = rest.length === 0 ? chunk.subarray(0, read) : Buffer.concat([rest, chunk.subarray(0, read)]);
      const end = bytes.lastIndexOf(LINE_FEED) + 1;
      yield* costLines(bytes.subarray(0, end));
      rest = Buffer.from(bytes.subarray(end));
    }
  } finally {
    closeSync(file);
  }
}

/** In whole lines. */
function* costLines(bytes: Buffer): Generator<string> {
  for (let at = bytes.indexOf(NEEDLE); at !== -1; at = bytes.indexOf(NEEDLE, at + 1)) {
    const start = bytes.lastIndexOf(LINE_FEED, at) + 1;
    // The same words later in a line are content.
    if (at - start > BEFORE_KIND) continue;
    yield bytes.toString("utf8", start, bytes.indexOf(LINE_FEED, at));
  }
}
