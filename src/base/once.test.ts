import { describe, expect, it } from "vitest";
import { Once, once } from "./once.js";

describe("a value that is made once", () => {
  it("is the same for all callers, and is not made before the first", async () => {
    let count = 0;
    const get = once(async () => ++count);
    expect(count).toBe(0);
    expect(await Promise.all([get(), get()])).toEqual([1, 1]);
    expect(await get()).toBe(1);
  });

  it("is made again after a failure", async () => {
    let count = 0;
    const value = new Once(async () => {
      count += 1;
      if (count === 1) throw new Error("not yet");
      return count;
    });
    await expect(Promise.all([value.get(), value.get()])).rejects.toThrow("not yet");
    expect(value.made).toBeUndefined();
    expect(await value.get()).toBe(2);
    expect(await value.made).toBe(2);
  });

  it("is made again after it was forgotten, also if the earlier attempt fails later", async () => {
    const failures: ((error: Error) => void)[] = [];
    const value = new Once(() => new Promise<string>((_resolve, reject) => failures.push(reject)));
    const first = value.get();
    expect(value.forget()).toBe(first);
    const second = value.get();
    failures[0]?.(new Error("the earlier one"));
    await expect(first).rejects.toThrow("the earlier one");
    expect(value.made).toBe(second);
  });
});
