import { expect, it } from "vitest";
import { LateConsumer } from "./late-consumer.js";

it("hands on what came before the consumer was loaded, first and in order", async () => {
  let resolve = (_list: string[]) => {};
  const loading = new Promise<string[]>((done) => {
    resolve = done;
  });
  const late = new LateConsumer(loading, (list, value: string) => void list.push(value));
  late.push("a");
  late.push("b");
  resolve([]);
  const list = await late.ready();
  expect(list).toEqual(["a", "b"]);
  late.push("c");
  expect(list).toEqual(["a", "b", "c"]);
});

it("keeps the order when the consumer causes more while it catches up", async () => {
  const seen: number[] = [];
  const late: LateConsumer<number[], number> = new LateConsumer(Promise.resolve(seen), (list, value) => {
    list.push(value);
    if (value === 1) late.push(3);
  });
  late.push(1);
  late.push(2);
  expect(await late.ready()).toEqual([1, 2, 3]);
});

it("tells a failure only to a caller that waits", async () => {
  const late = new LateConsumer(Promise.reject(new Error("not there")), () => {});
  late.push("a");
  await expect(late.ready()).rejects.toThrow("not there");
});
