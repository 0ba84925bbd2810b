import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { type Clock, ManualClock, systemClock } from "../base/clock.js";
import { type Ask, Budget, type CallBudget, type Grant, NOTHING } from "./budget.js";
import { DayBudget, startOfDay } from "./day-budget.js";

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

  it("starts again with the day, and asks the budget above it", async () => {
    const noon = new Date(2026, 5, 15, 12).getTime();
    const manual = new ManualClock(noon);
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
    expect(startOfDay(noon)).toBe(new Date(2026, 5, 15).getTime());
  });
});
