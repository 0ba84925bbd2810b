/**
 * The budget of a day, shared by all processes of a user.
 *
 * 1. One small file per day holds the spent and the reserved amounts; it is read and replaced under a
 *    lock.
 * 2. `known` is the day's spending according to the sessions: calls without this budget count too.
 * 3. A call that does not fit waits while others hold reservations: they may need less. It is refused if it would not fit without
 *    them either.
 * 4. The next process settles the reservation of a killed one by its log: by the cost there, or else by the prompt and the part of the
 *    answer that it shows. Without a log it counts in full: the provider may have charged all of it.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { onAbort } from "../base/abort-tree.js";
import type { Clock } from "../base/clock.js";
import { writeFileAtomic } from "../system/atomic-file.js";
import { withLock } from "../system/file-lock.js";
import { isAlive, ownIdentity } from "../system/process-identity.js";
import {
  type Amount,
  type Ask,
  affordable,
  amountOf,
  type BudgetLimit,
  type CallBudget,
  type CallLog,
  type Decision,
  limiterOf,
  NOTHING,
  plus,
} from "./budget.js";

export interface DayBudgetOptions {
  readonly scope: string;
  readonly limit: BudgetLimit;
  /** The folder of the files. */
  readonly folder: string;
  readonly clock: Clock;
  readonly known: Amount;
  readonly parent?: CallBudget | undefined;
  /** Reads the log of a killed call; undefined if it is not in reach. */
  readonly readLog?: (log: CallLog) => Promise<LoggedCall | undefined>;
  /** Called when a call starts to wait for others. */
  readonly onWait?: () => void;
}

/** The cost of a call that the log has; of a call without one, the tokens of the answer that arrived. */
export type LoggedCall = { readonly paid: Amount } | { readonly output: number };

interface Held extends Amount, Pick<Ask, "fixed" | "each" | "log"> {
  readonly pid: number;
  readonly started: number;
}

interface Killed extends Amount {
  readonly answers: number;
}

interface Day {
  readonly spent: Amount;
  readonly held: Readonly<Record<string, Held>>;
  /** Settled without a cost in the log, so `known` does not include it. */
  readonly killed?: Killed;
}

const DAYS_KEPT = 7;
const LOOK_AGAIN_MS = 200;
const EMPTY: Day = { spent: NOTHING, held: {} };

/** A part of the budget of a day that a call has reserved. */
export interface HeldPart extends Amount {
  readonly pid: number;
  readonly session?: string | undefined;
  /** The process has ended: the next one that uses the budget settles it. */
  readonly isKilled: boolean;
}

/** The reservations of today, and the answers of killed processes that are counted by their logs. */
export async function readReservations(
  folder: string,
  wall: number,
): Promise<{ readonly held: readonly HeldPart[]; readonly killed: Killed }> {
  const { held, killed = { ...NOTHING, answers: 0 } } = await read(join(folder, `${dayOf(wall)}.json`));
  const parts = Object.values(held).map((each) => {
    const { usd, tokens, pid, log } = each;
    return { usd, tokens, pid, session: log?.session, isKilled: !isHolding(each) };
  });
  return { held: parts, killed };
}

/** Midnight here, in milliseconds since the epoch. */
export function startOfDay(wall: number): number {
  const day = new Date(wall);
  day.setHours(0, 0, 0, 0);
  return day.getTime();
}

export class DayBudget implements CallBudget {
  readonly #options: DayBudgetOptions;
  /** The day of `known`. */
  readonly #openedOn: string;
  #tidied = "";
  /** Changes of the file that are under way. */
  readonly #changes = new Set<Promise<void>>();

  constructor(options: DayBudgetOptions) {
    this.#options = options;
    this.#openedOn = this.#today();
  }

  async reserve(ask: Ask, signal?: AbortSignal): Promise<Decision> {
    const { parent } = this.#options;
    const day = this.#today();
    const id = randomUUID();
    const own = await this.#take(day, id, { ask, signal });
    if ("exhausted" in own || parent === undefined) return own;
    const above = await parent.reserve({ ...ask, most: own.grant.output }, signal).catch(async (error) => {
      await own.grant.charge(NOTHING);
      throw error;
    });
    if ("exhausted" in above) {
      await own.grant.charge(NOTHING);
      return above;
    }
    const charge = async (spent: Amount) => {
      await own.grant.charge(spent);
      await above.grant.charge(spent);
    };
    return { grant: { ...own.grant, ...above.grant, charge } };
  }

  /** Resolves when the calls that have ended, or were cancelled, are charged. */
  async settled(): Promise<void> {
    // A reservation that was under way at the cancel is charged when it is there.
    for (; this.#changes.size > 0; await new Promise(setImmediate)) await Promise.allSettled(this.#changes);
  }

  async #take(
    day: string,
    id: string,
    { ask, signal }: { readonly ask: Ask; readonly signal: AbortSignal | undefined },
  ): Promise<Decision> {
    const { clock, onWait } = this.#options;
    for (let isFirst = true; ; isFirst = false) {
      const { decision, mayFitLater } = await this.#try(day, id, ask);
      if (!mayFitLater) return decision;
      if (isFirst) onWait?.();
      await pause(clock, signal);
    }
  }

  async #try(day: string, id: string, ask: Ask): Promise<{ decision: Decision; mayFitLater: boolean }> {
    const { scope, limit } = this.#options;
    let decision: Decision | undefined;
    let spent = NOTHING;
    let held = NOTHING;
    await this.#change(day, (before) => {
      ({ spent, held } = sumsOf(before));
      const taken = plus(spent, held);
      const output = affordable(ask, limit, taken);
      if (output < ask.least) return before;
      const { fixed, each, log } = ask;
      const hold = { ...amountOf(ask, output), fixed, each, log, pid: process.pid, started: ownIdentity().startTime };
      let charged: Promise<void> | undefined;
      const charge = (used: Amount) => {
        charged ??= this.#charge(day, id, used);
        return charged;
      };
      const limitedBy = output < ask.most && {
        limitedBy: limiterOf(scope, limit, { taken, amount: amountOf(ask, output + 1) }),
      };
      decision = { grant: { output, ...limitedBy, charge } };
      return { ...before, held: { ...before.held, [id]: hold } };
    });
    if (decision !== undefined) return { decision, mayFitLater: false };
    const least = amountOf(ask, ask.least);
    const limiter = limiterOf(scope, limit, { taken: plus(spent, held), amount: least });
    const { unit } = limiter;
    const exhausted = {
      ...limiter,
      spent: spent[unit],
      needed: least[unit],
      ...(held[unit] > 0 && { held: held[unit] }),
    };
    return { decision: { exhausted }, mayFitLater: affordable(ask, limit, spent) >= ask.least };
  }

  /** An amount that cannot be written here is still in the log of the session. */
  async #charge(day: string, id: string, spent: Amount): Promise<void> {
    await this.#change(day, (before) => {
      const { [id]: _done, ...held } = before.held;
      return { ...before, spent: plus(before.spent, spent), held };
    }).catch(() => {});
  }

  #change(day: string, step: (before: Day) => Day): Promise<void> {
    const change = this.#reallyChange(day, step).finally(() => this.#changes.delete(change));
    this.#changes.add(change);
    return change;
  }

  async #reallyChange(day: string, step: (before: Day) => Day): Promise<void> {
    const { clock, folder } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, `${day}.json`);
    if (this.#tidied !== day) await this.#tidy(day);
    await withLock(`${file}.lock`, { clock }, async () => {
      const stored = await read(file);
      const settled = await this.#withoutKilled(stored);
      const before = this.#withKnown(day, settled);
      const after = step(before);
      if (after === before && settled === stored) return;
      await writeFileAtomic(file, JSON.stringify(after), { mode: 0o600 });
    });
  }

  /** Earlier days are not needed: the sessions have their spending. */
  async #tidy(day: string): Promise<void> {
    const { folder } = this.#options;
    this.#tidied = day;
    const over = (await readdir(folder)).filter((name) => /^\d{4}-\d\d-\d\d\.json$/.test(name)).sort();
    for (const name of over.slice(0, -DAYS_KEPT)) if (name < day) await rm(join(folder, name), { force: true });
  }

  #withKnown(day: string, stored: Day): Day {
    const { known } = this.#options;
    if (day !== this.#openedOn) return stored;
    const { usd, tokens } = stored.spent;
    return { ...stored, spent: { usd: Math.max(usd, known.usd), tokens: Math.max(tokens, known.tokens) } };
  }

  /** Settles reservations of killed processes. A reservation whose log is not in reach stays. */
  async #withoutKilled(stored: Day): Promise<Day> {
    let settled = stored;
    for (const [id, call] of Object.entries(stored.held)) {
      if (isHolding(call) || call.log === undefined) continue;
      const logged = await this.#options.readLog?.(call.log).catch(() => undefined);
      if (logged === undefined) continue;
      const { [id]: _settled, ...held } = settled.held;
      const { spent, killed = { ...NOTHING, answers: 0 } } = settled;
      const worth = least("paid" in logged ? logged.paid : amountOf(call, logged.output), call);
      settled =
        "paid" in logged
          ? { ...settled, held, spent: plus(spent, worth) }
          : { ...settled, held, killed: { ...plus(killed, worth), answers: killed.answers + 1 } };
    }
    return settled;
  }

  #today(): string {
    return dayOf(this.#options.clock.wall());
  }
}

/** YYYY-MM-DD, in local time. */
function dayOf(wall: number): string {
  const day = new Date(wall);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

function isHolding({ pid, started }: Held): boolean {
  return isAlive({ pid, startTime: started });
}

/** A call cannot cost more than its reservation. */
function least(a: Amount, b: Amount): Amount {
  return { usd: Math.min(a.usd, b.usd), tokens: Math.min(a.tokens, b.tokens) };
}

/** Reservations of killed processes count as spent: waiting for them would not end. */
function sumsOf({ spent, held, killed = { ...NOTHING, answers: 0 } }: Day): { spent: Amount; held: Amount } {
  const sums = { spent: plus(spent, killed), held: NOTHING };
  for (const call of Object.values(held)) {
    const name = isHolding(call) ? "held" : "spent";
    sums[name] = plus(sums[name], call);
  }
  return sums;
}

/** Waits until the next check. Rejects if the signal fires first. */
function pause(clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let stopListening = () => {};
    const stopTimer = clock.after(LOOK_AGAIN_MS, () => {
      stopListening();
      resolve();
    });
    if (signal === undefined) return;
    stopListening = onAbort(signal, () => {
      stopTimer();
      reject(new Error("cancelled"));
    });
  });
}

/** A damaged file counts as missing: the sessions know the spending. */
async function read(file: string): Promise<Day> {
  try {
    const { spent, held, killed } = JSON.parse(await readFile(file, "utf8")) as Day;
    const numbers = (amount: Amount) => ({ usd: Number(amount.usd) || 0, tokens: Number(amount.tokens) || 0 });
    return {
      spent: numbers(spent),
      held: { ...held },
      ...(killed && { killed: { ...numbers(killed), answers: Number(killed.answers) || 0 } }),
    };
  } catch {
    return EMPTY;
  }
}
