import { expect, it } from "vitest";
import { ManualClock } from "../../base/clock.js";
import type { Model, ModelEvent, ModelRequest } from "../../engine/ports.js";
import { lateLocalModel } from "./late-local-model.js";

const request: ModelRequest = { model: "m", system: "", messages: [], tools: [] };

function server() {
  const asked: ModelRequest[] = [];
  let answer: (events: readonly ModelEvent[]) => void = () => {};
  const model: Model = {
    provider: "p",
    family: "p",
    model: "m",
    async *stream(given) {
      asked.push(given);
      yield await new Promise<readonly ModelEvent[]>((resolve) => {
        answer = resolve;
      });
      yield [{ type: "stop", reason: "end" }];
    },
  };
  return { model, asked, say: (text: string) => answer([{ type: "text", text }]) };
}

async function read(model: Model, given = request): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const batch of model.stream(given, { model, signal: new AbortController().signal })) events.push(...batch);
  return events;
}

const loud = (model: Model): Model => ({
  ...model,
  async *stream(given, context) {
    for await (const batch of model.stream(given, context)) {
      yield batch.map((event) => (event.type === "text" ? { ...event, text: `${event.text}!` } : event));
    }
  },
});

it("sends the request first, loads the wrappers once while the server works, and reads the answer through them", async () => {
  const { model, asked, say } = server();
  const clock = new ManualClock();
  let loads = 0;
  const load = async () => {
    expect(asked).toHaveLength(1);
    loads++;
    return loud;
  };
  const late = lateLocalModel(model, { load, clock });
  const first = read(late);
  await Promise.resolve();
  expect([asked.length, loads]).toEqual([1, 0]);
  clock.advance(20);
  say("hi");
  expect(await first).toEqual([
    { type: "text", text: "hi!" },
    { type: "stop", reason: "end" },
  ]);
  const second = read(late, { ...request });
  await new Promise((resolve) => setImmediate(resolve));
  say("again");
  expect((await second)[0]).toEqual({ type: "text", text: "again!" });
  expect([asked.length, loads, clock.pending]).toEqual([2, 1, 0]);
});

it("loads as soon as the answer begins, and hands on what the model throws", async () => {
  const { model, say } = server();
  const quick = read(lateLocalModel(model, { load: async () => loud, clock: new ManualClock() }));
  await Promise.resolve();
  say("now");
  expect((await quick)[0]).toEqual({ type: "text", text: "now!" });
  const broken: Model = {
    ...model,
    async *stream() {
      yield* [];
      throw new Error("broken");
    },
  };
  const late = lateLocalModel(broken, { load: async () => loud, clock: new ManualClock() });
  await expect(read(late)).rejects.toThrow("broken");
});
