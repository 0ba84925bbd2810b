import { describe, expect, it } from "vitest";
import { failure } from "../protocol/errors.js";
import { looseTurn, tokens } from "./test-support/turns.js";

const ONE = { provider: "p", model: "m" };
const OTHER = { provider: "q", model: "m" };
const usd = (amount: number) => ({ ...tokens(0), usd: amount });

describe("[L1 M8] the state of a turn", () => {
  it("adds up the usage, of each model by itself, in the order of first use", () => {
    const { turn } = looseTurn();
    expect([turn.shares, turn.usage.input, turn.cost]).toEqual([[], 0, undefined]);
    turn.pay(tokens(1), usd(1), ONE);
    turn.pay(tokens(10), usd(2), OTHER);
    turn.pay(tokens(100, 5), usd(4), ONE);
    expect(turn.usage).toMatchObject({ input: 111, output: 5 });
    expect(turn.cost).toMatchObject({ usd: 7 });
    expect(turn.shares).toMatchObject([
      { ...ONE, calls: 2, usage: { input: 101, output: 5 }, cost: { usd: 5 } },
      { ...OTHER, calls: 1, usage: { input: 10 }, cost: { usd: 2 } },
    ]);
  });

  it("has no known cost once one call has none", () => {
    for (const order of [
      [usd(1), undefined, usd(2)],
      [undefined, usd(1)],
    ]) {
      const { turn } = looseTurn();
      for (const cost of order) turn.pay(tokens(1), cost, ONE);
      turn.pay(tokens(1), usd(8), OTHER);
      expect(turn.cost).toBe("unknown");
      expect(turn.shares[0]).not.toHaveProperty("cost");
      expect(turn.shares[1]).toMatchObject({ cost: { usd: 8 } });
    }
  });

  it("keeps its first failure and its first stop; a limit is an outcome of its own", () => {
    const { turn } = looseTurn();
    turn.fail(failure("Internal", { detail: "first" }));
    turn.fail(failure("IterationLimit", { limit: 3 }));
    expect([turn.failure?.reason, turn.outcome]).toEqual(["Internal", undefined]);
    const limited = looseTurn().turn;
    limited.fail(failure("IterationLimit", { limit: 3 }));
    expect(limited.outcome).toBe("limit");
    turn.stop("start/05-a", "enough");
    turn.stop("start/06-b", "really");
    expect(turn.stopped).toMatchObject({ reason: "StoppedByHook", message: expect.stringContaining("enough") });
  });

  it("was cancelled only once its signal has fired", () => {
    const { turn, abort } = looseTurn();
    expect(turn.cancelReason).toBeUndefined();
    abort.abort({ by: "me" });
    expect(turn.cancelReason).toEqual({ by: "me" });
  });

  it("has no steering, no waiting inputs and no plan unless its options say so", () => {
    const { turn } = looseTurn();
    expect([turn.takeSteering(), turn.queued, turn.isPlanning(), turn.chosenMode()]).toEqual([[], 0, false, undefined]);
    expect([turn.iterations, turn.firstEvent, turn.truncated, turn.compacted]).toEqual([0, 0, false, false]);
  });
});
