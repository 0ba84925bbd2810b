import { describe, expect, it } from "vitest";
import { ManualClock } from "../../base/clock.js";
import type { Model, ModelEvent, ModelRequest, RequestContext } from "../../engine/ports.js";

import { withTimeLimit } from "./time-limit.js";

const REQUEST = { model: "slow", system: "", messages: [], tools: [] } as unknown as ModelRequest;

function slow(clock: ManualClock, ms: number): Model {
  return {
    provider: "ollama",
    family: "ollama",
    model: "slow",
    async *stream(_request, { signal }) {
      yield [{ type: "text", text: "so " }] as unknown as readonly ModelEvent[];
      await new Promise<void>((resolve) => {
        clock.after(ms, resolve);
        signal.addEventListener("abort", () => resolve());
      });
      if (!signal.aborted) yield [{ type: "text", text: "slow" }] as unknown as readonly ModelEvent[];
    },
  };
}

async function answer(ms: number, limitMs: number): Promise<readonly ModelEvent[]> {
  const clock = new ManualClock();
  const model = withTimeLimit(slow(clock, ms), { ms: limitMs, clock });
  const context = { signal: new AbortController().signal } as RequestContext;
  const events: ModelEvent[] = [];
  for await (const batch of model.stream(REQUEST, context)) {
    events.push(...batch);
    if (events.length === 1) queueMicrotask(() => clock.advance(Math.min(ms, limitMs)));
  }
  return events;
}

describe("withTimeLimit", () => {
  it("ends an answer that takes too long with a failure that names the setting", async () => {
    const events = await answer(50_000, 10_000);
    expect(events).toMatchObject([{ text: "so " }, { type: "failure", failure: { reason: "ProviderFailed" } }]);
    expect(JSON.stringify(events)).toContain("longer than 10s, the limit of ollama_timeout");
  });

  it("leaves an answer in time alone", async () => {
    expect(await answer(5_000, 10_000)).toMatchObject([{ text: "so " }, { text: "slow" }]);
  });
});
