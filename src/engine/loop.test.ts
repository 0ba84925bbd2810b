import { describe, expect, it } from "vitest";
import { AbortNode } from "../base/abort-tree.js";
import { failure } from "../protocol/errors.js";
import { runTurn } from "./loop.js";
import { looseTurn, tokens } from "./test-support/turns.js";
import type { HookResult, Stage, StageChains, Turn, TurnOptions } from "./turn.js";

type Hooks = Partial<Record<Stage, readonly ((turn: Turn) => HookResult | Promise<HookResult>)[]>>;

const STAGES: readonly Stage[] = ["start", "assemble", "send", "receive", "tool_exec", "tool_done", "done", "error"];

/** Runs a turn with these hooks; `path` has the stages that were visited. */
async function run(hooks: Hooks, options: { most?: number; turn?: Partial<TurnOptions>; cancel?: unknown } = {}) {
  const path: Stage[] = [];
  let refreshed = 0;
  const made = looseTurn(
    {
      maxIterations: options.most ?? 10,
      refresh: async () => {
        refreshed++;
      },
    },
    options.turn,
  );
  if (options.cancel !== undefined) made.abort.abort(options.cancel);
  const stages = Object.fromEntries(
    STAGES.map((stage) => {
      const note = () => {
        path.push(stage);
        return undefined;
      };
      const own = (hooks[stage] ?? []).map((hook, at) => ({ name: `${at + 10}-x`, run: hook }));
      return [stage, [{ name: "01-note", run: note }, ...own]];
    }),
  ) as unknown as StageChains;
  const result = await runTurn(made.turn, stages);
  const done = path.filter((stage) => stage === "done").length;
  return { ...made, result, path: path.filter((stage) => stage !== "done"), done, refreshed };
}

const throws = (words: string) => () => {
  throw new Error(words);
};

describe("[L1 L4] the path of a turn", () => {
  it("goes from start to done, and asks for news of tools before start and each iteration", async () => {
    let left = 2;
    const receive = () => (left-- > 0 ? ({ next: "tool_exec" } as const) : undefined);
    const { path, result, refreshed, done } = await run({ receive: [receive] });
    const iteration = ["assemble", "send", "receive"];
    const tools = ["tool_exec", "tool_done"];
    expect(path).toEqual(["start", ...iteration, ...tools, ...iteration, ...tools, ...iteration]);
    expect([result.outcome, result.iterations, refreshed, done]).toEqual(["answered", 3, 4, 1]);
  });

  it("listens to its session no longer when it has ended", async () => {
    const session = new AbortNode();
    const { turn, result } = await run({}, { turn: { abort: session.child() } });
    session.abort("closed");
    expect([result.outcome, turn.signal.aborted]).toEqual(["answered", false]);
  });

  it("follows the last explicit choice, and every hook runs", async () => {
    let calls = 0;
    const note = () => {
      calls++;
      return undefined;
    };
    const { path } = await run({ start: [() => ({ next: "tool_exec" }), () => ({ next: "receive" }), note] });
    expect([path, calls]).toEqual([["start", "receive"], 1]);
  });

  it("ends at a stop, whose reason is in the result; later hooks of the stage do not run", async () => {
    const stop = { stop: "enough" };
    const { path, result } = await run({ start: [() => stop, throws("never")], assemble: [throws("never")] });
    expect(path).toEqual(["start"]);
    expect(result).toMatchObject({ outcome: "stopped", failure: { reason: "StoppedByHook" } });
    expect(result.failure?.message).toContain("start/10-x");
  });

  it("goes to error after a failure, and from there to done only", async () => {
    const failed = await run({ assemble: [throws("broken")] });
    expect(failed.path).toEqual(["start", "assemble", "error"]);
    expect(failed.result).toMatchObject({ outcome: "failed", failure: { reason: "Internal" } });
    expect(failed.result.failure?.message).toContain("broken");
    const both = await run({ assemble: [throws("first")], error: [throws("second")] });
    expect([both.path, both.done]).toEqual([["start", "assemble", "error"], 1]);
    expect(both.result.failure?.message).toContain("first");
    const bare = await run({
      start: [
        () => {
          throw "words";
        },
      ],
    });
    expect(bare.result.failure?.message).toContain("words");
  });

  it("may recover in error, but not by staying there", async () => {
    const again = await run({ start: [() => ({ next: "error" })], error: [() => ({ next: "error" })] });
    expect([again.path, again.result.outcome]).toEqual([["start", "error"], "answered"]);
    const recovered = await run({ start: [() => ({ next: "error" })], error: [() => ({ next: "receive" })] });
    expect(recovered.path).toEqual(["start", "error", "receive"]);
  });

  it("ends at its limit of iterations, without a visit of error", async () => {
    const { path, result } = await run({ receive: [() => ({ next: "assemble" })] }, { most: 2 });
    expect(path).toEqual(["start", "assemble", "send", "receive", "assemble", "send", "receive", "assemble"]);
    expect(result).toMatchObject({ outcome: "limit", iterations: 2, failure: { reason: "IterationLimit" } });
  });

  it("ends without a working stage when a limit fails it", async () => {
    const fails = (turn: Turn) => {
      turn.fail(failure("IterationLimit", { limit: 1 }));
      return undefined;
    };
    const { path, result } = await run({ assemble: [fails] });
    expect([path, result.outcome]).toEqual([["start", "assemble"], "limit"]);
  });

  it("runs every hook of done, also after one that fails, and the turn is failed then", async () => {
    let calls = 0;
    const note = () => {
      calls++;
      return undefined;
    };
    const { result, of } = await run({ done: [throws("broken"), note, () => ({ stop: "x" }), note] });
    expect([calls, result.outcome, result.failure?.reason]).toEqual([2, "failed", "Internal"]);
    expect(of("TurnEnded")).toHaveLength(1);
  });
});

describe("[L9 L11] the end of a turn", () => {
  it("names who cancelled it, and leaves out what failed", async () => {
    const { result, path, events, of, turn } = await run({ start: [throws("aborted")] }, { cancel: { by: "me" } });
    expect(path).toEqual(["start"]);
    expect(result).not.toHaveProperty("failure");
    expect(result.outcome).toBe("cancelled");
    expect(of("Cancelled")).toEqual([{ turn: turn.id, by: "me" }]);
    expect(events.map(({ kind }) => kind)).toEqual(["TurnStarted", "Cancelled", "TurnTiming", "TurnEnded"]);
  });

  it.each([
    [{ by: "x", failure: failure("Timeout", { timeout: "1s" }) }, "limit"],
    [{ by: "x", failure: failure("Internal", { detail: "" }), outcome: "failed" }, "failed"],
  ] as const)("is a limit or a failure when nobody cancelled it: %o", async (cancel, outcome) => {
    const { result, of } = await run({}, { cancel });
    expect([result.outcome, result.failure, of("Cancelled")]).toEqual([outcome, cancel.failure, []]);
  });

  it("has the cost where it is known, shares where models share it, and marks", async () => {
    const pay = (usd: number | undefined, model: string) => (turn: Turn) => {
      turn.pay(tokens(1), usd === undefined ? undefined : { ...tokens(0), usd }, { provider: "p", model });
      return undefined;
    };
    const one = (await run({ send: [pay(1, "m"), pay(1, "m")] })).result;
    expect([one.cost?.usd, one.by_model, one.usage.input]).toEqual([2, undefined, 2]);
    const two = (await run({ send: [pay(1, "m"), pay(undefined, "n")] })).result;
    expect([two.cost, two.by_model?.length]).toEqual([undefined, 2]);
    expect(Object.keys(one).sort()).toEqual(["cost", "iterations", "outcome", "text", "turn", "usage"]);
    const marked = await run({
      start: [
        (turn) => {
          turn.truncated = true;
          turn.isPlanning = () => true;
          turn.chosenMode = () => "auto";
          return undefined;
        },
      ],
    });
    expect(marked.result).toMatchObject({ truncated: true, plan: true, mode: "auto" });
  });

  it("begins with what came with the input, and only that", async () => {
    const bare = await run({});
    expect(bare.of("TurnStarted")).toEqual([{ turn: bare.turn.id, input: [] }]);
    expect(bare.turn.firstEvent).toBe(1);
    const full = await run({}, { turn: { notice: "n", route: "r", queued: 1 } });
    expect(full.of("TurnStarted")).toEqual([{ turn: full.turn.id, input: [], notice: "n", route: "r", queued: 1 }]);
  });

  it("frees what it held of the session's signal", async () => {
    const { turn, abort } = await run({});
    expect(turn.abort).toBe(abort);
    expect(abort.signal.aborted).toBe(false);
  });
});
