import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AbortNode } from "../../src/base/abort-tree.js";
import { TurnFailure } from "../../src/engine/cancel.js";
import type { NamedHook, Stage } from "../../src/engine/turn.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import { failure } from "../../src/protocol/errors.js";
import { call, calls, ok, type Part, says, scriptedModel, testEngine, tool } from "../support/engine.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const STAGES: readonly Stage[] = [
  ...(["start", "assemble", "send", "receive"] as const),
  ...(["tool_exec", "tool_done", "done", "error"] as const),
];
type Hooks = Partial<Record<Stage, readonly NamedHook[]>>;

const echo = tool("echo", async () => ok("heard"));
const refuses: Part = async function* () {
  yield [{ type: "failure", failure: failure("QuotaExceeded", { name: "x", detail: "empty" }) }];
};
const asksTool = calls(call("echo"), call("echo"));
const SCRIPTS: readonly (readonly Part[])[] = [
  [says("hello")],
  [asksTool, says("done")],
  [asksTool, calls(call("unknown")), says("done")],
  [refuses],
  [asksTool, refuses],
];

async function turnWith(extraHooks: Hooks, script: readonly Part[] = [asksTool, says("done")]) {
  const engine = testEngine({ model: scriptedModel(script), tools: [echo], extraHooks });
  const result = await engine.turn("go");
  return { engine, result };
}

/** Without what differs from run to run: ids by the order they appear in, no times. */
function comparable(events: readonly Envelope[]): string[] {
  const seen = new Map<string, string>();
  const shortened = (id: string) => {
    if (!seen.has(id)) seen.set(id, `id${seen.size}`);
    return seen.get(id) ?? id;
  };
  return events.map(({ kind, payload }) => {
    if (kind === "TurnTiming") return kind;
    const { elapsed_ms: _, ...rest } = payload as { elapsed_ms?: number };
    return `${kind} ${JSON.stringify(rest).replace(/(turn|call|sess|cli)_[0-9A-Z]+/gi, shortened)}`;
  });
}

const silentHooks: fc.Arbitrary<Hooks> = fc
  .array(
    fc.record({
      stage: fc.constantFrom(...STAGES),
      number: fc.integer({ min: 0, max: 99 }),
      waits: fc.boolean(),
    }),
    { maxLength: 12 },
  )
  .map((drawn) => {
    const hooks: Record<string, NamedHook[]> = {};
    drawn.forEach(({ stage, number, waits }, index) => {
      const name = `${String(number).padStart(2, "0")}-silent${index}`;
      const run = waits ? async () => undefined : () => undefined;
      hooks[stage] = [...(hooks[stage] ?? []), { name, run }];
    });
    return hooks;
  });

describe("hooks of a stage", () => {
  verifies(["L2"], "change no event of a turn when they say nothing", async () => {
    await fc.assert(
      fc.asyncProperty(silentHooks, fc.constantFrom(...SCRIPTS), async (hooks, script) => {
        const plain = await turnWith({}, script);
        const hooked = await turnWith(hooks, script);
        expect(comparable(hooked.engine.events)).toEqual(comparable(plain.engine.events));
        expect(hooked.engine.conversation).toHaveLength(plain.engine.conversation.length);
      }),
      { numRuns: times(60, 500) },
    );
  });

  verifies(["L2"], "run by their names among the built-in ones, and replace those of the same name", async () => {
    const order: string[] = [];
    const marks = (name: string): NamedHook => ({
      name,
      run: (turn) => {
        order.push(`${name} ${turn.request?.system ?? "-"}/${turn.request?.tools.length ?? "-"}`);
      },
    });
    await turnWith({ assemble: [marks("60-late"), marks("05-early"), marks("30-instructions")] }, [says("hi")]);
    expect(order).toEqual(["05-early -/-", "30-instructions /1", "60-late /1"]);
  });

  verifies(["L2"], "choose another stage; the last choice wins", async () => {
    const goesTo = (name: string, next: Stage): NamedHook => ({ name, run: () => ({ next }) });
    const { engine, result } = await turnWith({ start: [goesTo("80-a", "receive"), goesTo("90-b", "done")] });
    expect(result).toMatchObject({ outcome: "answered", text: "", iterations: 0 });
    expect(engine.kinds("TurnStarted", "TurnEnded", "Error")).toEqual(["TurnStarted", "TurnEnded"]);
  });

  verifies(["L2", "L4"], "stop the turn on purpose; the outcome shows it, and every call is answered", async () => {
    const stops: NamedHook = { name: "60-stop", run: () => ({ stop: "the review is not done" }) };
    const { engine, result } = await turnWith({ receive: [stops] });
    expect(result).toMatchObject({ outcome: "stopped", failure: { reason: "StoppedByHook" } });
    expect(result.failure?.message).toBe("The hook receive/60-stop stopped the turn: the review is not done");
    expect(engine.kinds("ToolResult")).toHaveLength(2);
    expect(engine.conversation.at(-1)?.content).toHaveLength(2);
  });

  it("let a hook of `error` try again after it took the failure back, within the limit of iterations", async () => {
    const again: NamedHook = {
      name: "60-again",
      run: (turn) => {
        turn.failure = undefined;
        return { next: "assemble" };
      },
    };
    const { result } = await turnWith({ error: [again] }, [refuses, says("at last")]);
    expect(result).toMatchObject({ outcome: "answered", text: "at last", iterations: 2 });
    const engine = testEngine({
      model: scriptedModel([refuses, refuses]),
      maxIterations: 2,
      extraHooks: { error: [again] },
    });
    expect(await engine.turn("go")).toMatchObject({ outcome: "limit", iterations: 2 });
  });

  verifies(["L1", "L14"], "visit `done` once, whatever happens before, and all of its hooks", async () => {
    const faults: readonly Hooks[] = [
      {},
      ...STAGES.map((stage) => ({ [stage]: [{ name: "01-throws", run: throws }] })),
      { receive: [{ name: "99-fails", run: fails }] },
      { start: [{ name: "99-stops", run: () => ({ stop: "enough" }) }] },
      { assemble: [{ name: "99-circle", run: () => ({ next: "assemble" as const }) }] },
    ];
    for (const fault of faults) {
      let visits = 0;
      const last: NamedHook = {
        name: "99-last",
        run: () => {
          visits++;
        },
      };
      const { engine } = await turnWith({ ...fault, done: [...(fault.done ?? []), last] });
      expect(visits, JSON.stringify(fault)).toBe(1);
      expect(engine.kinds("TurnEnded")).toHaveLength(1);
    }
  });

  verifies(["L9"], "visit `done` when the turn is cancelled", async () => {
    const abort = new AbortNode();
    const cancels: NamedHook = {
      name: "99-cancel",
      run: () => {
        abort.abort({ by: "test" });
      },
    };
    let ended = false;
    const last: NamedHook = {
      name: "99-last",
      run: () => {
        ended = true;
      },
    };
    const engine = testEngine({ model: scriptedModel([]), extraHooks: { start: [cancels], done: [last] } });
    expect(await engine.turn("go", abort)).toMatchObject({ outcome: "cancelled" });
    expect(ended).toBe(true);
  });

  it("refuse a name without a place in the order", () => {
    const hook: NamedHook = { name: "check-style", run: () => undefined };
    expect(() => testEngine({ model: scriptedModel([]), extraHooks: { done: [hook] } })).toThrow("use NN-name");
  });
});

function throws(): never {
  throw new Error("planted");
}

function fails(): never {
  throw new TurnFailure(failure("QuotaExceeded", { name: "x", detail: "empty" }));
}
