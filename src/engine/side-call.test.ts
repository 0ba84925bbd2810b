import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { ManualClock } from "../base/clock.js";
import type { Envelope } from "../protocol/envelope.js";
import { failure } from "../protocol/errors.js";
import type { ClientId, SessionId } from "../protocol/ids.js";
import { Bus } from "./bus.js";
import { TurnFailure } from "./cancel.js";
import type { EnginePorts, Model, ModelEvent, ModelRequest, RequestLink } from "./ports.js";
import { callBeside } from "./side-call.js";
import { looseTurn } from "./test-support/turns.js";
import type { Turn } from "./turn.js";

const text = (words: string): ModelEvent => ({ type: "text", text: words });
const usage = (input: number): ModelEvent => ({
  type: "usage",
  usage: { input, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 },
});
const BUSY = failure("Overloaded", { name: "p" });

async function ask(batches: readonly (readonly ModelEvent[] | (() => void))[], links: readonly RequestLink[] = []) {
  const clock = new ManualClock();
  const bus = new Bus({ session: "sess_1" as SessionId, originator: "cli_1" as ClientId, clock });
  const events: Envelope[] = [];
  bus.subscribe((event) => events.push(event));
  const { signal } = new AbortController();
  const model: Model = {
    ...{ provider: "p", family: "p", model: "m" },
    async *stream() {
      for (const batch of batches) {
        if (typeof batch === "function") {
          batch();
          continue;
        }
        clock.advance(10);
        yield batch;
      }
    },
  };
  const request = { model: "m", system: "", messages: [], tools: [] };
  const ports = { clock, requestLinks: links } as unknown as EnginePorts;
  const answer = await callBeside({ model, request, purpose: "summary" }, { bus, ports, signal });
  const costs = events.flatMap(({ kind, payload }) => (kind === "CostIncremented" ? [payload] : []));
  const notices = events.flatMap(({ kind, payload }) => (kind === "Notice" ? [payload.message] : []));
  return { answer, costs, notices };
}

describe("a call beside the conversation", () => {
  verifies(["X7", "M9"], "gives the text without what was withdrawn, and pays once", async () => {
    const { answer, costs } = await ask([
      [text("half of"), { type: "retract", reason: "Overloaded" }],
      [text("the "), text("whole")],
      [usage(5), { type: "stop", reason: "end" }],
    ]);
    expect(answer).toEqual({ text: "the whole", by: "p" });
    expect(costs).toMatchObject([
      { provider: "p", model: "m", purpose: "summary", usage: { input: 5 }, elapsed_ms: 30 },
    ]);
    expect(costs[0]).not.toHaveProperty("abandoned");
  });

  verifies(["M8", "M9"], "pays for each attempt under the name of its model, and says why it tries again", async () => {
    const by = { provider: "q", family: "q", model: "n", route: "main" };
    const { answer, costs, notices } = await ask([
      [usage(1), { type: "again", failure: BUSY, waitMs: 4, attempt: 1 }],
      [usage(2), { type: "failover", failure: BUSY, to: by }, { type: "answering", by }],
      [{ type: "notice", level: "warning", message: "slow" }, text("ok"), usage(3)],
    ]);
    expect(answer).toEqual({ text: "ok", by: "q" });
    expect(
      costs.map(({ provider, route, usage: { input }, abandoned }) => [provider, route, input, abandoned]),
    ).toEqual([
      ["p", undefined, 1, true],
      ["p", undefined, 2, true],
      ["q", "main", 3, undefined],
    ]);
    // Waiting is not the time of an attempt.
    expect(costs.map(({ elapsed_ms }) => elapsed_ms)).toEqual([10, 6, 10]);
    expect(notices).toEqual([BUSY.message, "slow"]);
  });

  verifies(["X7"], "ends at the first failure, and reports what a link throws", async () => {
    let went = false;
    const { answer } = await ask([
      [text("half"), { type: "failure", failure: BUSY }],
      () => {
        went = true;
      },
    ]);
    expect([answer, went]).toEqual([{ failure: BUSY }, false]);
    const throwing = (error: unknown): RequestLink => ({
      name: "05-x",
      run: () => Promise.reject(error),
    });
    expect((await ask([], [throwing(new TurnFailure(BUSY))])).answer).toEqual({ failure: BUSY });
    const odd = (await ask([], [throwing(new Error("a bug"))])).answer;
    expect(odd).toMatchObject({ failure: { reason: "Internal", message: expect.stringContaining("a bug") } });
  });

  verifies(["L9"], "is cancelled with its signal, and pays for what came before", async () => {
    const clock = new ManualClock();
    const abort = new AbortController();
    const bus = new Bus({ session: "sess_1" as SessionId, originator: "cli_1" as ClientId, clock });
    const paid: number[] = [];
    bus.subscribe(({ kind, payload }) => kind === "CostIncremented" && paid.push(payload.usage.input));
    let returned = false;
    const stream = (): AsyncIterable<readonly ModelEvent[]> => ({
      [Symbol.asyncIterator]: () => {
        let count = 0;
        return {
          next: () => {
            if (count++ === 0) return Promise.resolve({ done: false, value: [text("half"), usage(9)] });
            queueMicrotask(() => abort.abort());
            return new Promise(() => {});
          },
          return: () => {
            returned = true;
            return Promise.reject(new Error("ignored"));
          },
        };
      },
    });
    const model = { provider: "p", family: "p", model: "m", stream } as unknown as Model;
    const request = { model: "m", system: "", messages: [], tools: [] };
    const ports = { clock, requestLinks: [] } as unknown as EnginePorts;
    const asked = callBeside({ model, request, purpose: "summary" }, { bus, ports, signal: abort.signal });
    await new Promise(setImmediate);
    clock.advance(0);
    expect(await asked).toEqual({ cancelled: true });
    expect([returned, paid]).toEqual([true, [9]]);
  });

  const said = (words: string): readonly ModelEvent[] => [
    text(words),
    { type: "block", block: { type: "text", text: words } } as ModelEvent,
  ];
  const PAUSE: ModelEvent = { type: "stop", reason: "pause" } as ModelEvent;

  /** Each request gets the next of these answers, the last one again and again. */
  async function converse(answers: readonly (readonly ModelEvent[])[], turn?: Turn) {
    const clock = new ManualClock();
    const bus = new Bus({ session: "sess_1" as SessionId, originator: "cli_1" as ClientId, clock });
    const events: Envelope[] = [];
    bus.subscribe((event) => events.push(event));
    const requests: ModelRequest[] = [];
    const model: Model = {
      ...{ provider: "p", family: "p", model: "m" },
      async *stream(request) {
        requests.push(request);
        clock.advance(10);
        yield answers[Math.min(requests.length, answers.length) - 1] ?? [];
      },
    };
    const request = { model: "m", system: "", messages: [], tools: [] };
    const ports = { clock, requestLinks: [] } as unknown as EnginePorts;
    const { signal } = new AbortController();
    const answer = await callBeside(
      { model, request, purpose: "summary" },
      { bus, ports, signal, ...(turn && { turn }) },
    );
    const costs = events.flatMap(({ kind, payload }) => (kind === "CostIncremented" ? [payload] : []));
    const notices = events.flatMap(({ kind, payload }) => (kind === "Notice" ? [payload] : []));
    return { answer, requests, costs, notices };
  }

  it("goes on after a pause with what was said, three times at most, and pays for each part", async () => {
    const part = [...said("a"), usage(2), PAUSE];
    const { answer, requests, costs } = await converse([part]);
    expect(answer).toEqual({ text: "aaaa", by: "p" });
    expect(requests.map(({ messages }) => messages.length)).toEqual([0, 1, 2, 3]);
    expect(requests[3]?.messages).toEqual(Array(3).fill({ role: "assistant", content: [{ type: "text", text: "a" }] }));
    expect(costs.map(({ usage: { input }, elapsed_ms }) => [input, elapsed_ms])).toEqual(Array(4).fill([2, 10]));
    // Only a pause goes on, and only behind something said and not withdrawn, without a failure.
    const once = [
      [...said("a"), { type: "stop", reason: "end" } as ModelEvent],
      [text("a"), PAUSE],
      [...said("b"), { type: "retract", reason: "Overloaded" } as ModelEvent, PAUSE],
      [...said("a"), PAUSE, { type: "failure", failure: BUSY } as ModelEvent],
    ];
    for (const only of once) expect((await converse([only])).requests).toHaveLength(1);
    const two = await converse([part, said("b")]);
    expect([two.answer, two.requests.length]).toEqual([{ text: "ab", by: "p" }, 2]);
  });

  it("names each source once, with all that is known of it, a call, and a search that failed", async () => {
    const source = (found: object): ModelEvent => ({ type: "source", ...found }) as ModelEvent;
    const sources = [
      source({ title: "", url: "u1", cites: "one" }),
      source({ title: "First", url: "u1", excerpt: "…", cites: "two" }),
      source({ title: "", url: "u1" }),
      source({ title: "Second", url: "u2" }),
    ];
    const call = {
      type: "block",
      block: { type: "tool_call", id: "c", name: "x", args: {} },
    } as unknown as ModelEvent;
    const { answer } = await converse([[...sources, call, { type: "unsearched", reason: "no quota" }, text("x")]]);
    expect(answer).toEqual({
      ...{ text: "x", by: "p", called: true, unsearched: "no quota" },
      sources: [
        { title: "First", url: "u1", excerpt: "…", cites: ["one", "two"] },
        { title: "Second", url: "u2", cites: [] },
      ],
    });
    const withdrawn = await converse([
      [...sources, { type: "retract", reason: "Overloaded" } as ModelEvent, text("y")],
    ]);
    expect(withdrawn.answer).toEqual({ text: "y", by: "p" });
  });

  verifies(["M9"], "belongs to the turn that it is made in: its costs, its notices and its time", async () => {
    const { turn } = looseTurn();
    const again: ModelEvent = { type: "again", failure: BUSY, waitMs: 0, attempt: 1 };
    const { costs, notices } = await converse([[usage(7), again, usage(5)]], turn);
    expect([...costs, ...notices].map((payload) => payload.turn)).toEqual([turn.id, turn.id, turn.id]);
    expect(turn.usage.input).toBe(12);
    const alone = await converse([[usage(7), again, usage(5)]]);
    expect([...alone.costs, ...alone.notices].some((payload) => "turn" in payload)).toBe(false);
    // An attempt without usage costs nothing.
    expect((await converse([[text("free")]], turn)).costs).toEqual([]);
  });
});
