import { expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { EventMemory } from "./event-memory.js";

const message = (text: string) => ({ jsonrpc: "2.0", method: "notifications/message", params: { text } }) as const;

async function replayed(memory: EventMemory, after: string): Promise<readonly string[]> {
  const seen: string[] = [];
  await memory.replayEventsAfter(after, {
    send: async (_event, sent) => void seen.push(String((sent as { params?: { text?: unknown } }).params?.text)),
  });
  return seen;
}

verifies(["C8"], "a client whose stream broke gets the messages of that stream after the last one it saw", async () => {
  const memory = new EventMemory();
  const first = await memory.storeEvent("one", message("a"));
  await memory.storeEvent("two", message("b"));
  const third = await memory.storeEvent("one", message("c"));
  await memory.storeEvent("one", message("d"));
  expect(await replayed(memory, first)).toEqual(["c", "d"]);
  expect(await replayed(memory, third)).toEqual(["d"]);
  expect(await memory.getStreamIdForEventId(first)).toBe("one");
  expect(await memory.getStreamIdForEventId("nonsense")).toBeUndefined();
  expect(await replayed(memory, "nonsense")).toEqual([]);
});

it("forgets the oldest messages", async () => {
  const memory = new EventMemory();
  const first = await memory.storeEvent("one", message("begin"));
  for (let count = 0; count < 1500; count++) await memory.storeEvent("one", message(String(count)));
  const kept = await replayed(memory, first);
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([1000, "500", "1499"]);
  await memory.storeEvent("one", message("x".repeat(5_000_000)));
  expect(await replayed(memory, first)).toHaveLength(1);
});
