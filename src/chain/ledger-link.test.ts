import { describe, expect } from "vitest";
import { tool } from "../../test/support/engine.js";
import { verifies } from "../../test/verifies.js";
import { TurnFailure } from "../engine/cancel.js";
import type { ChainServices } from "./services.js";
import { ledger as create } from "./tool-links.js";

describe("a session that cannot be kept", () => {
  for (const mutating of [false, true]) {
    verifies(
      ["S1", "S3"],
      `lets no tool run (${mutating ? "one that changes something" : "one that reads"})`,
      async () => {
        let ran = false;
        const gone = () => Promise.reject(new Error("the key is gone"));
        const services = { journal: { ready: gone, intend: gone } } as unknown as ChainServices;
        const definition = tool("t", async () => ({ status: "ok", content: [] }), { mutating });
        const context = { definition, signal: new AbortController().signal, progress: () => {} };
        const link = create(services);
        const outcome = link({ call: "call_x", tool: "t", args: {} }, context, async (_call, inner) => {
          await inner?.intended;
          ran = true;
          return { status: "ok", content: [] };
        });
        await expect(outcome).rejects.toThrow(TurnFailure);
        expect(ran).toBe(false);
      },
    );
  }
});
