/**
 * The budget of a day, shared by all processes of a user.
 *
 * 1. One small file per day holds the spent and the reserved amounts; it is read and replaced under a
 *    lock. The reservation of a killed process counts as spent: the provider may have charged all of it.
 * 2. `known` is the day's spending according to the sessions: calls without this budget count too.
 * 3. A call that does not fit waits while others hold reservations: they may need less. It is refused if it would not fit without
 *    them either.
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
  /** Called when a call starts to wait for others. */
  readonly onWait?: () => void;
}

interface Held extends Amount {
  readonly pid: number;
  readonly started: number;
}

interface Day {
  readonly spent: Amount;
  readonly held: Readonly<Record<string, Held>>;
}

const DAYS_KEPT = 7;
const LOOK_AGAIN_MS = 200;
const EMPTY: Day = { spent: NOTHING, held: {} };

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
      spent = before.spent;
      held = Object.values(before.held).reduce<Amount>(plus, NOTHING);
      const taken = plus(spent, held);
      const output = affordable(ask, limit, taken);
      if (output < ask.least) return before;
      const hold = { ...amountOf(ask, output), pid: process.pid, started: ownIdentity().startTime };
      const charge = (used: Amount) => this.#charge(day, id, used);
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
      return { spent: plus(before.spent, spent), held };
    }).catch(() => {});
  }

  async #change(day: string, step: (before: Day) => Day): Promise<void> {
    const { clock, folder } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, `${day}.json`);
    if (this.#tidied !== day) await this.#tidy(day);
    await withLock(`${file}.lock`, { clock }, async () => {
      const before = this.#withKnown(day, await read(file));
      const after = step(before);
      if (after === before) return;
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

  #withKnown(day: string, { spent, held }: Day): Day {
    const { known } = this.#options;
    if (day !== this.#openedOn) return { spent, held };
    return { spent: { usd: Math.max(spent.usd, known.usd), tokens: Math.max(spent.tokens, known.tokens) }, held };
  }

  /** YYYY-MM-DD, in local time. */
  #today(): string {
    const now = new Date(this.#options.clock.wall());
    const two = (value: number) => String(value).padStart(2, "0");
    return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  }
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
    const { spent, held } = JSON.parse(await readFile(file, "utf8")) as Day;
    const alive: [string, Held][] = [];
    let all: Amount = { usd: Number(spent.usd) || 0, tokens: Number(spent.tokens) || 0 };
    for (const entry of Object.entries(held)) {
      if (isAlive({ pid: entry[1].pid, startTime: entry[1].started })) alive.push(entry);
      else all = plus(all, entry[1]);
    }
    return { spent: { usd: all.usd, tokens: all.tokens }, held: Object.fromEntries(alive) };
  } catch {
    return EMPTY;
  }
}
