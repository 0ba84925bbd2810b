import { describe, expect } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { askAboutOrphans } from "../../src/clients/headless/orphan-prompt.js";
import { type CutOffCall, type CutOffWork, endCutOffTurn } from "../../src/control/cut-off-turn.js";
import { Bus } from "../../src/engine/bus.js";
import type { EnginePorts, Tool } from "../../src/engine/ports.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import { failure } from "../../src/protocol/errors.js";
import { NO_USAGE } from "../../src/protocol/usage.js";
import { rebuildConversation } from "../../src/sessions/conversation.js";
import { ids, ok, tool } from "../support/engine.js";
import { verifies } from "../verifies.js";

function place(tools: readonly Tool[]) {
  const bus = new Bus({ session: ids.next("sess"), originator: ids.next("cli"), clock: systemClock, firstId: 8 });
  const events: Envelope[] = [];
  bus.subscribe((event) => events.push(event));
  const ports: EnginePorts = {
    clock: systemClock,
    ids,
    tools: { list: () => tools, find: (name) => tools.find((candidate) => candidate.name === name) },
    requestLinks: [],
    toolLinks: [],
    mayStartEarly: () => false,
    toolExecution: "batched",
    maxIterations: 1,
  };
  const turn = { turn: ids.next("turn"), text: "I will", iterations: 1, usage: NO_USAGE };
  const settle = (calls: readonly CutOffCall[], questions: CutOffWork["questions"] = []) =>
    endCutOffTurn({ bus, ports, calls, questions, turn });
  return { events, settle, turn };
}

describe("a turn that was cut off", () => {
  verifies(["S3", "P4"], "ends the questions that waited for an answer, each once and before the results", async () => {
    const { events, settle, turn } = place([tool("change", async () => ok("done"), { mutating: true })]);
    const [answered, open, earlier] = [ids.next("call"), ids.next("call"), ids.next("call")] as const;
    const asks = (call: typeof open) => ({ kind: "PermissionRequested", payload: { call, tool: "change", args: {} } });
    const answers = (call: typeof open) => ({
      kind: "PermissionResolved",
      payload: { call, tool: "change", decision: "allow_once", decided_by: "person" },
    });
    async function* log(): AsyncGenerator<Envelope> {
      const starts = { kind: "TurnStarted", payload: { turn: turn.turn, input: [] } };
      // The first question is of a log that an older version ended without an answer.
      const bodies = [asks(earlier), starts, asks(answered), answers(answered), asks(open)];
      for (const [i, body] of bodies.entries()) yield { id: i + 1, ts: "", ...body } as unknown as Envelope;
    }
    const { questions } = await rebuildConversation(log());
    expect(questions).toEqual([{ call: open, tool: "change" }]);
    await settle([{ call: open, tool: "change", args: {} }], questions);
    expect(events.map(({ kind }) => kind)).toEqual(["PermissionResolved", "ToolResult", "TurnEnded"]);
    expect(events[0]?.payload).toEqual({ call: open, tool: "change", decision: "deny", decided_by: "interrupted" });
  });

  verifies(["S3"], "makes the calls again that only read, and none that may have changed something", async () => {
    const runs: string[] = [];
    const look = tool("look", async (args) => {
      runs.push(`look ${args.at}`);
      return ok("seen");
    });
    const change = tool("change", async () => ok(String(runs.push("change"))), { mutating: true });
    const { events, settle, turn } = place([look, change]);
    const [a, b, c, d] = [ids.next("call"), ids.next("call"), ids.next("call"), ids.next("call")] as const;
    const results = await settle([
      { call: a, tool: "look", args: { at: "a" } },
      { call: b, tool: "change", args: {}, verdict: { verdict: "succeeded", note: "I saw it." } },
      { call: c, tool: "change", args: {} },
      { call: d, tool: "gone", args: {} },
    ]);
    expect(runs).toEqual(["look a"]);
    const told = events.flatMap((event) => (event.kind === "ToolResult" ? [event.payload] : []));
    expect(told.map(({ call, status }) => [call, status])).toEqual([
      [a, "ok"],
      [b, "ok"],
      [c, "cancelled"],
      [d, "cancelled"],
    ]);
    expect(JSON.stringify(told[1]?.content)).toContain("succeeded. I saw it.");
    expect(JSON.stringify(told[2]?.content)).toContain("before this call began");
    expect([...results.keys()]).toEqual([a, b, c, d]);
    expect(events.at(-1)).toMatchObject({
      id: 12,
      kind: "TurnEnded",
      payload: { turn: turn.turn, outcome: "failed", text: "I will", failure: { reason: "Interrupted" } },
    });
  });

  verifies(["S3"], "gets an error for a read that fails now", async () => {
    const look = tool("look", async () => {
      throw new Error("it is gone");
    });
    const { settle } = place([look]);
    const call = ids.next("call");
    expect((await settle([{ call, tool: "look", args: {} }])).get(call)).toMatchObject({ is_error: true });
  });

  verifies(["S3"], "asks a person what became of a call, until the answer can be understood", async () => {
    const asked = async (lines: readonly string[]) => {
      const left = [...lines];
      let shown = "";
      const write = (words: string) => {
        shown += words;
      };
      const output = { isTerminal: true, write };
      const terminal = {
        out: output,
        err: output,
        showProgress: true,
        color: false,
        askLine: async () => left.shift(),
      };
      const answer = await askAboutOrphans(terminal, failure("OrphanedCalls", { calls: "bash 'make' was running" }));
      expect(shown).toContain("bash 'make' was running");
      return answer;
    };
    expect(await asked(["maybe", "f", ""])).toEqual({ verdict: "failed" });
    expect(await asked(["S", "It is there."])).toEqual({ verdict: "succeeded", note: "It is there." });
    expect(await asked(["a"])).toEqual({ verdict: "abort" });
    expect(await asked([])).toEqual({ verdict: "abort" });
  });
});
