import { expect, it } from "vitest";
import { LateConsumer } from "./late-consumer.js";

const append = (list: string[], value: string) => void list.push(value);

it("passes on what came before the consumer was loaded, first and in order", async () => {
  const late = new LateConsumer({ load: async () => [] as string[], consume: append });
  expect(late.isUsed).toBe(false);
  late.push("a");
  late.push("b");
  expect([late.isUsed, late.consumer, late.loading]).toEqual([true, undefined, undefined]);
  const list = await late.ready();
  expect(list).toEqual(["a", "b"]);
  late.push("c");
  expect(late.consumer).toEqual(["a", "b", "c"]);
});

it("keeps the order when the consumer causes more while it catches up", async () => {
  const late: LateConsumer<number[], number> = new LateConsumer({
    load: async () => [] as number[],
    consume: (list, value) => {
      list.push(value);
      if (value === 1) late.push(3);
    },
  });
  late.push(1);
  late.push(2);
  expect(await late.ready()).toEqual([1, 2, 3]);
});

it("loads once", async () => {
  let loads = 0;
  const late = new LateConsumer({ load: async () => [String(++loads)], consume: append });
  expect(late.ready()).toBe(late.ready());
  await late.ready();
  late.push("a");
  expect(await late.ready()).toEqual(["1", "a"]);
});

it("reports a failure only to a caller that waits, and tries again", async () => {
  let loads = 0;
  const load = async () => {
    if (++loads === 1) throw new Error("not there");
    return [] as string[];
  };
  const late = new LateConsumer({ load, consume: append });
  late.push("a");
  void late.ready();
  await expect(late.loading).rejects.toThrow("not there");
  expect(await late.ready()).toEqual(["a"]);
});

it("keeps the newest values where a number is given", async () => {
  const late = new LateConsumer({ load: async () => [] as string[], consume: append, most: 2 });
  for (const value of ["a", "b", "c"]) late.push(value);
  expect(await late.ready()).toEqual(["b", "c"]);
});
