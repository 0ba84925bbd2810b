import fc from "fast-check";
import { describe, expect } from "vitest";
import { OutsideResults } from "../../src/chain/outside-results.js";
import type { Model, ModelEvent } from "../../src/engine/ports.js";
import { type Message, text } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import { estimateRequestTokens } from "../../src/providers/tokens/estimate-request.js";
import { RunCompaction } from "../../src/runtime/parts/compaction.js";
import { ConversationBuilder, withResults } from "../../src/sessions/conversation.js";
import { readStoredSession } from "../../src/sessions/resume.js";
import type { SessionStore } from "../../src/sessions/store.js";
import { ok, testEngine, tool } from "../support/engine.js";
import { verifies } from "../verifies.js";

interface Step {
  readonly says: number;
  readonly calls: readonly number[];
  readonly fails: "no" | "broken" | "too long";
}

/** A model that answers by the steps, counts tokens as a provider does, and writes summaries when it is asked for one. */
function countingModel(steps: readonly Step[]): Model & { summaries: number } {
  let at = 0;
  return {
    provider: "scripted",
    family: "scripted",
    model: "test",
    summaries: 0,
    async *stream(request) {
      const usage = {
        input: estimateRequestTokens(request, "scripted"),
        output: 5,
        cache_read: 0,
        cache_write: 0,
        reasoning: 0,
      };
      const words = (value: string): ModelEvent[] => [
        { type: "text", text: value },
        { type: "block", block: text(value) },
      ];
      if (JSON.stringify([request.system, request.messages.at(-1)]).includes("You write the summary")) {
        yield [...words(`summary ${++this.summaries}`), { type: "usage", usage }, { type: "stop", reason: "end" }];
        return;
      }
      const step = steps[at++ % Math.max(1, steps.length)] ?? { says: 1, calls: [], fails: "no" };
      if (step.fails === "too long") {
        yield [{ type: "failure", failure: { reason: "ContextTooLong", message: "too long" } }];
        return;
      }
      yield [...(step.says === 0 ? [] : words("word ".repeat(step.says))), { type: "usage", usage }];
      if (step.fails === "broken") throw new Error("the line went dead");
      yield step.calls.map((size) => ({ type: "block", block: { type: "tool_call", tool: "look", args: { size } } }));
      yield [{ type: "stop", reason: step.calls.length > 0 ? "tool_calls" : "end" }];
    },
  };
}

function engineWith(steps: readonly Step[], limit: number) {
  const look = tool("look", async ({ size }) => ok("seen ".repeat(Number(size))));
  const model = countingModel(steps);
  const outside = new OutsideResults(async () => "b".repeat(16), { results: "wrap" });
  const compaction = new RunCompaction({
    outside,
    share: 0.8,
    limitsOf: async () => ({ reads: limit, writes: limit / 8 }),
    conversation: () => engine.conversation,
  });
  const engine: ReturnType<typeof testEngine> = testEngine({
    model,
    tools: [look],
    maxIterations: 6,
    compaction,
    outside,
  });
  return { engine, model };
}

const step = fc.record({
  says: fc.constantFrom(0, 1, 40, 300),
  calls: fc.array(fc.constantFrom(1, 60, 500), { maxLength: 2 }),
  fails: fc.constantFrom<Step["fails"]>("no", "no", "no", "no", "broken", "too long"),
});

/** As much of a store as resuming reads. */
function storeOf(events: readonly Envelope[]): SessionStore {
  return {
    get: async () => ({ expired_to: 0 }),
    last: async (_session: string, kind: string) => events.findLast((event) => event.kind === kind)?.id,
    async *events(_session: string, { after = 0, limit = Number.POSITIVE_INFINITY } = {}) {
      yield* events.filter(({ id }) => id > after).slice(0, limit);
    },
    orphans: async () => [],
  } as unknown as SessionStore;
}

async function resumed(events: readonly Envelope[]) {
  const { rebuilt } = await readStoredSession(storeOf(events), events[0]?.session ?? "sess_x");
  return rebuilt;
}

function fromTheBeginning(events: readonly Envelope[]): readonly Message[] {
  const builder = new ConversationBuilder();
  for (const event of events) builder.take(event);
  return builder.end().messages;
}

describe("the mode of a resumed session", () => {
  verifies(["P4", "S6"], "is the last that was chosen in it; a copied one was not", async () => {
    const { engine } = engineWith([{ says: 1, calls: [], fails: "no" }], 100_000);
    const { bus } = engine;
    const by = engine.bus.originator;
    const mode = async () => {
      const { mode, isPlanning } = await readStoredSession(storeOf(engine.events), bus.session);
      return [mode, isPlanning];
    };
    bus.publish("ModeChanged", { mode: "ask", by });
    expect(await mode()).toEqual(["ask", false]);
    bus.publish("ModeChanged", { mode: "plan", by });
    expect(await mode()).toEqual(["ask", true]);
    bus.publish("ModeChanged", { mode: "deny", by });
    expect(await mode()).toEqual(["deny", false]);
    bus.publish("ModeChanged", { mode: "deny", by, copied: true });
    expect(await mode()).toEqual([undefined, false]);
  });
});

describe("a conversation that is shortened as it goes", () => {
  verifies(
    ["X7", "S6", "L11"],
    "is the same live, rebuilt from the last summary, and rebuilt from the beginning",
    async () => {
      let shortened = 0;
      let kept = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: 8 }),
          fc.integer({ min: 900, max: 4_000 }),
          async (steps, limit) => {
            const { engine } = engineWith(steps, limit);
            for (let turn = 0; turn < 4; turn++) {
              await engine.turn(`prompt ${turn} ${"please ".repeat(turn * 60)}`);
              expect((await resumed(engine.events)).messages).toEqual(engine.conversation);
              expect(fromTheBeginning(engine.events)).toEqual(engine.conversation);
            }
            for (const event of engine.events) {
              if (event.kind !== "CompactionTriggered") continue;
              shortened++;
              if (event.payload.kept_from !== undefined) kept++;
            }
          },
        ),
        { numRuns: 40, seed: 11 },
      );
      // Or it has shown nothing.
      expect(shortened).toBeGreaterThan(40);
      expect(kept).toBeGreaterThan(20);
    },
  );

  verifies(["X7", "S3"], "can continue from any event at which the log may end, with every call answered", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
        const { engine } = engineWith(steps, 1_200);
        for (let turn = 0; turn < 2; turn++) await engine.turn(`prompt ${turn} ${"please ".repeat(60)}`);
        for (let end = 1; end <= engine.events.length; end++) {
          const rebuilt = await resumed(engine.events.slice(0, end));
          const messages = withResults(rebuilt, new Map());
          expect(messages[0]?.role).toBe("user");
          for (const [i, { content }] of messages.entries()) {
            const asked = content.flatMap((block) => (block.type === "tool_use" ? [block.call] : []));
            const next = messages[i + 1]?.content ?? [];
            if (asked.length > 0)
              expect(next.flatMap((block) => (block.type === "tool_result" ? [block.call] : []))).toEqual(asked);
          }
          const ended = engine.events
            .slice(0, end)
            .findLast(({ kind }) => kind === "TurnStarted" || kind === "TurnEnded");
          expect(rebuilt.unfinished?.turn).toBe(ended?.kind === "TurnStarted" ? ended.payload.turn : undefined);
        }
      }),
      { numRuns: 20, seed: 12 },
    );
  });

  verifies(["X7", "L10"], "still knows the input that waited before the summary when the log ends", async () => {
    const { engine } = engineWith([{ says: 300, calls: [500], fails: "no" }], 1_200);
    const waiting = { input: [text("later")], delivery: "queue", from: "cli_x", identity: "agent" } as const;
    let queued = false;
    engine.bus.subscribe(({ kind }) => {
      if (kind !== "ToolResult" || queued) return;
      queued = true;
      engine.bus.publish("InputQueued", waiting);
    });
    await engine.turn("go");
    const end = engine.events.findLastIndex(({ kind }) => kind === "CompactionTriggered") + 1;
    expect(end).toBeGreaterThan(0);
    const rebuilt = await resumed(engine.events.slice(0, end));
    expect(rebuilt.waiting).toEqual([waiting]);
  });

  verifies(
    ["M16", "X7"],
    "is checked with one comparison per request, and not shortened again without effect",
    async () => {
      const { engine, model } = engineWith([{ says: 1, calls: [1], fails: "no" }], 100_000);
      await engine.turn("go");
      expect([model.summaries, engine.kinds("CompactionTriggered")]).toEqual([0, []]);
      // The newest input alone is more than the window: nothing can be dropped, and no summary is requested.
      const hopeless = engineWith([{ says: 1, calls: [1], fails: "no" }], 1_000);
      await hopeless.engine.turn("please ".repeat(9_000));
      expect(hopeless.model.summaries).toBe(0);
      expect(hopeless.engine.kinds("ContextNearlyFull", "CompactionTriggered")).toEqual(["ContextNearlyFull"]);
    },
  );
});
