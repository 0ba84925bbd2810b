import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import type { Model } from "../engine/ports.js";
import type { Turn } from "../engine/turn.js";
import type { ChainServices } from "./services.js";
import { outputLimit } from "./stages.js";

const model = (more: Partial<Model>) => ({ provider: "p", family: "f", model: "m", ...more }) as Model;
const NEEDS = model({ needsOutputLimit: true });
const FREE = model({});

/** Returns what the second request of a turn asks for, from a model with this window that writes up to 64,000 tokens. */
async function limitFor(chosen: Model, context: number): Promise<number | undefined> {
  const costs = { facts: async () => ({ context, output: 64_000, assumed: false }) };
  const turn = {
    model: chosen,
    request: { model: "m", system: "You help.", messages: [], tools: [] },
    conversation: [{ role: "assistant", content: [] }],
  } as unknown as Turn;
  await outputLimit({ costs } as unknown as ChainServices)?.(turn);
  return turn.request?.maxOutputTokens;
}

describe("the limit of an answer", () => {
  verifies(["L21"], "is 32,000 tokens or what is left of the window, also behind a route", async () => {
    const route = model({ candidates: async () => [FREE, NEEDS] });
    for (const chosen of [NEEDS, route]) {
      expect(await limitFor(chosen, 200_000)).toBe(32_000);
      expect(await limitFor(chosen, 20_000)).toBeLessThanOrEqual(20_000);
      expect(await limitFor(chosen, 20_000)).toBeGreaterThan(10_000);
    }
  });

  verifies(["L21"], "is left to services that need none", async () => {
    for (const chosen of [FREE, model({ candidates: async () => [FREE] })]) {
      expect(await limitFor(chosen, 20_000)).toBeUndefined();
    }
  });
});
