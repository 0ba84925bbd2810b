import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { type Clock, ManualClock, systemClock } from "../base/clock.js";
import { type Ask, Budget, type CallBudget, type Grant, NOTHING } from "./budget.js";
import { DayBudget, type LoggedCall, readReservations, startOfDay } from "./day-budget.js";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-day-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const ask = (least: number, most: number): Ask => ({ fixed: NOTHING, each: { usd: 1, tokens: 1 }, least, most });

function budget(more: Partial<ConstructorParameters<typeof DayBudget>[0]> = {}): DayBudget {
  return new DayBudget({ scope: "this day", limit: { usd: 100 }, folder, clock: systemClock, known: NOTHING, ...more });
}

async function granted(from: CallBudget, request: Ask): Promise<Grant> {
  const decision = await from.reserve(request);
  if ("exhausted" in decision) throw new Error("refused");
  return decision.grant;
}

const NOON = new Date(2026, 5, 15, 12).getTime();

describe("the budget of a day", () => {
  verifies(["M14"], "is shared by all who spend: what one holds, another cannot have", async () => {
    const [one, other] = [budget(), budget()];
    const first = await granted(one, ask(1, 70));
    const second = await granted(other, ask(1, 70));
    expect([first.output, second.output]).toEqual([70, 30]);
    expect(second.limitedBy).toEqual({ scope: "this day", unit: "usd", limit: 100 });
    expect(await one.reserve(ask(101, 101))).toEqual({
      exhausted: { scope: "this day", unit: "usd", limit: 100, spent: 0, held: 100, needed: 101 },
    });
    await first.charge({ usd: 10, tokens: 10 });
    await second.charge({ usd: 5, tokens: 5 });
    expect((await granted(one, ask(1, 200))).output).toBe(85);
  });

  verifies(
    ["M14"],
    "waits for the reservations of others, reports that once, and is refused when they have spent them",
    async () => {
      let waits = 0;
      const [one, other] = [budget(), budget({ onWait: () => waits++ })];
      const first = await granted(one, ask(1, 100));
      const fits = other.reserve(ask(10, 20));
      const fitsNot = budget().reserve(ask(95, 95));
      await expect.poll(() => waits).toBe(1);
      await first.charge({ usd: 10, tokens: 10 });
      expect(await fits).toMatchObject({ grant: { output: 20 } });
      expect(await fitsNot).toMatchObject({ exhausted: { spent: 10 } });
      // Who does not want to wait any more can go.
      const third = await granted(one, ask(1, 100));
      const abort = new AbortController();
      const given = budget({ onWait: () => abort.abort() }).reserve(ask(20, 20), abort.signal);
      await expect(given).rejects.toThrow("cancelled");
      await third.charge(NOTHING);
    },
  );

  verifies(["M14"], "is not exceeded by many at once", async () => {
    const budgets = Array.from({ length: 4 }, () => budget());
    const spend = async (from: DayBudget) => {
      const decision = await from.reserve(ask(9, 9));
      if ("grant" in decision) await decision.grant.charge({ usd: 9, tokens: 9 });
      return "grant" in decision;
    };
    const rounds = await Promise.all(budgets.flatMap((each) => Array.from({ length: 5 }, () => spend(each))));
    expect(rounds.filter(Boolean)).toHaveLength(11);
    const [file] = (await readdir(folder)).filter((name) => name.endsWith(".json"));
    expect(JSON.parse(await readFile(join(folder, file ?? ""), "utf8"))).toEqual({
      spent: { usd: 99, tokens: 99 },
      held: {},
    });
  });

  it("counts what the sessions know of, once, and takes what the dead held as spent", async () => {
    const known = { usd: 60, tokens: 60 };
    await (await granted(budget({ known }), ask(1, 10))).charge({ usd: 10, tokens: 10 });
    expect((await granted(budget({ known }), ask(1, 100))).output).toBe(30);
    await rm(folder, { recursive: true });
    await mkdir(folder);
    for (let i = 10; i < 20; i++) await writeFile(join(folder, `2020-01-${i}.json`), "{}");
    const day = new Date();
    const two = (value: number) => String(value).padStart(2, "0");
    const name = `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}.json`;
    const dead = { usd: 30, tokens: 30, pid: 2 ** 22 - 3, started: 1 };
    await writeFile(join(folder, name), JSON.stringify({ spent: { usd: 20, tokens: 20 }, held: { a: dead } }));
    expect((await granted(budget(), ask(1, 100))).output).toBe(50);
    expect((await readdir(folder)).filter((each) => each.startsWith("2020"))).toHaveLength(6);
    await writeFile(join(folder, name), "{");
    expect((await granted(budget({ known }), ask(1, 100))).output).toBe(40);
  });

  it("settles what the dead held by their logs, at most by what they held, and keeps what has no log in reach", async () => {
    const dead = {
      usd: 30,
      tokens: 30,
      fixed: { usd: 5, tokens: 5 },
      each: { usd: 1, tokens: 1 },
      pid: 2 ** 22 - 3,
      started: 1,
    };
    const log = (session: string) => ({ store: "here", session, after: 3 });
    const held = {
      paid: { ...dead, log: log("paid") },
      dear: { ...dead, log: log("dear") },
      cut: { ...dead, log: log("cut") },
      far: { ...dead, log: log("far") },
    };
    const name = `${new Date(NOON).toLocaleDateString("sv")}.json`;
    await writeFile(join(folder, name), JSON.stringify({ spent: NOTHING, held }));
    const clock: Clock = { ...systemClock, wall: () => NOON };
    const shown: Readonly<Record<string, LoggedCall>> = {
      paid: { paid: { usd: 2, tokens: 2 } },
      dear: { paid: { usd: 50, tokens: 50 } },
      cut: { output: 4 },
    };
    const before = await readReservations(folder, NOON);
    expect(before.held.map(({ session, isKilled }) => [session, isKilled])).toEqual([
      ["paid", true],
      ["dear", true],
      ["cut", true],
      ["far", true],
    ]);
    const { output } = await granted(budget({ clock, readLog: async ({ session }) => shown[session] }), ask(1, 100));
    // 2 and at most 30 were paid, 5 and 4 were cut off, and 30 stay until their log is in reach.
    expect(output).toBe(100 - 2 - 30 - 9 - 30);
    const after = await readReservations(folder, NOON);
    expect(after.killed).toEqual({ usd: 9, tokens: 9, answers: 1 });
    expect(after.held.map(({ session, isKilled }) => [session, isKilled])).toEqual([
      ["far", true],
      [undefined, false],
    ]);
  });

  it("does not count what the sessions spent yesterday after midnight", async () => {
    let now = NOON;
    const day = budget({ clock: { ...systemClock, wall: () => now }, known: { usd: 60, tokens: 60 } });
    expect((await granted(day, ask(1, 100))).output).toBe(40);
    now += 24 * 3_600_000;
    expect((await granted(day, ask(1, 100))).output).toBe(100);
  });

  it("charges a call once, and has settled when its charge is in the file", async () => {
    const day = budget();
    const { charge } = await granted(day, ask(1, 50));
    void charge({ usd: 7, tokens: 7 });
    void charge({ usd: 7, tokens: 7 });
    await day.settled();
    expect((await readReservations(folder, Date.now())).held).toEqual([]);
    expect((await granted(day, ask(1, 100))).output).toBe(93);
  });

  it("starts again with the day, and asks the budget above it", async () => {
    const manual = new ManualClock(NOON);
    // The lock's own waiting is real.
    const clock: Clock = { ...systemClock, wall: () => manual.wall() };
    const parent = new Budget({ scope: "the run above", limit: { usd: 120 } });
    const day = budget({ clock, parent });
    await (await granted(day, ask(1, 100))).charge({ usd: 100, tokens: 100 });
    expect(await day.reserve(ask(1, 1))).toMatchObject({ exhausted: { scope: "this day" } });
    manual.advance(24 * 3_600_000);
    const next = await granted(day, ask(1, 100));
    expect(next).toMatchObject({ output: 20, limitedBy: { scope: "the run above" } });
    await next.charge({ usd: 20, tokens: 20 });
    expect(await day.reserve(ask(1, 1))).toMatchObject({ exhausted: { scope: "the run above" } });
    expect(startOfDay(NOON)).toBe(new Date(2026, 5, 15).getTime());
  });
});
