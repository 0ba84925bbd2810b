import fc from "fast-check";
import { describe, expect } from "vitest";
import { TurnFailure } from "../../src/engine/cancel.js";
import type { ModelEvent, ToolLink } from "../../src/engine/ports.js";
import { plainText } from "../../src/protocol/content.js";
import { failure } from "../../src/protocol/errors.js";
import type { JsonObject } from "../../src/protocol/json.js";
import { call, calls, type Deferred, deferred, ok, says, scriptedModel, testEngine, tool } from "../support/engine.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("dispatch", () => {
  verifies(["L5"], "safe neighbours run together, an unsafe one alone, results in the model's order", async () => {
    const gates = new Map<string, Deferred<void>>();
    const running = new Set<string>();
    const together: string[][] = [];
    const waiting = (safe: boolean) =>
      tool(
        safe ? "read" : "write",
        async (args) => {
          const name = String(args.name);
          running.add(name);
          together.push([...running].sort());
          const gate = deferred();
          gates.set(name, gate);
          await gate.promise;
          running.delete(name);
          return ok(name);
        },
        safe ? {} : { concurrencySafe: false, mutating: true },
      );
    const part = calls(
      call("read", { name: "a" }),
      call("read", { name: "b" }),
      call("write", { name: "c" }),
      call("read", { name: "d" }),
      call("read", { name: "e" }),
    );
    const engine = testEngine({ model: scriptedModel([part, says("done")]), tools: [waiting(true), waiting(false)] });
    // The redacting link loads its patterns at the first result; here they are loaded before, so that only the order decides.
    await Promise.all([
      import("../../src/security/redact/redact.js"),
      import("../../src/security/redact/redacting-stream.js"),
    ]);
    const turn = engine.turn("go");
    const finish = async (name: string) => {
      while (!gates.has(name)) await settled();
      gates.get(name)?.resolve();
      await settled();
    };
    await finish("b");
    // Long enough for a result that did not wait for its turn to have come through the links.
    for (let tick = 0; tick < 50; tick++) await settled();
    expect(engine.kinds("ToolResult")).toHaveLength(0);
    await finish("a");
    while (engine.kinds("ToolResult").length < 2) await settled();
    await finish("c");
    await finish("e");
    await finish("d");
    await turn;
    expect(together).toEqual([["a"], ["a", "b"], ["c"], ["d"], ["d", "e"]]);
    const results = engine.events.filter((event) => event.kind === "ToolResult");
    expect(results.map((event) => plainText(event.payload.content))).toEqual(["a", "b", "c", "d", "e"]);
  });

  verifies(["L5"], "tells reads of a turn whether a call between them could have changed anything", async () => {
    const states: (object | undefined)[] = [];
    const read = tool("read", async (_args, { unchanged }) => {
      states.push(unchanged);
      return ok("");
    });
    const traits = { mutating: true, concurrencySafe: false, onlyReads: ({ look }: JsonObject) => look === true };
    const run = tool("run", async () => ok(""), traits);
    const model = scriptedModel([
      calls(call("read"), call("run", { look: true }), call("read")),
      calls(call("run"), call("read")),
      says("done"),
      calls(call("read")),
      says("done"),
    ]);
    const engine = testEngine({ model, tools: [read, run] });
    await engine.turn("one");
    await engine.turn("two");
    const [first, afterLook, afterChange, nextTurn] = states;
    expect(first).toBeDefined();
    expect(afterLook).toBe(first);
    expect(afterChange).not.toBe(first);
    expect(new Set([first, afterChange, nextTurn]).size).toBe(3);
  });

  verifies(
    ["L6"],
    "a safe call starts while the answer still streams; a mutating one and what follows it do not",
    async () => {
      const started: string[] = [];
      const rest = deferred();
      const part = async function* (): AsyncGenerator<ModelEvent[]> {
        yield [call("read", { name: "first" })];
        yield [call("write", { name: "second" })];
        yield [call("read", { name: "third" })];
        await rest.promise;
        yield [{ type: "stop", reason: "tool_calls" }];
      };
      const note = async (args: { name?: unknown }) => {
        started.push(String(args.name));
        return ok("");
      };
      const engine = testEngine({
        model: scriptedModel([part, says("done")]),
        tools: [tool("read", note), tool("write", note, { concurrencySafe: false, mutating: true })],
      });
      const turn = engine.turn("go");
      while (started.length === 0) await settled();
      await settled();
      expect(started).toEqual(["first"]);
      rest.resolve();
      await turn;
      expect(started).toEqual(["first", "second", "third"]);
    },
  );

  verifies(["L6"], "nothing starts early when a person might have to be asked", async () => {
    const started: string[] = [];
    const rest = deferred();
    const part = async function* (): AsyncGenerator<ModelEvent[]> {
      yield [call("read")];
      await rest.promise;
      yield [{ type: "stop", reason: "tool_calls" }];
    };
    const read = tool("read", async () => {
      started.push("read");
      return ok("");
    });
    const engine = testEngine({ model: scriptedModel([part, says("done")]), tools: [read], mode: "deny" });
    const turn = engine.turn("go");
    await settled();
    await settled();
    rest.resolve();
    await turn;
    expect(started).toEqual([]);
    expect(engine.events.find((event) => event.kind === "ToolResult")?.payload.status).toBe("denied");
  });

  verifies(
    ["L8"],
    "unknown tool, malformed JSON, wrong arguments and a throwing tool are results the model reads",
    async () => {
      const strict = tool("strict", async () => ok("ran"), {
        inputSchema: {
          type: "object",
          properties: { path: { type: "string" } },
          required: ["path"],
          additionalProperties: false,
        },
      });
      const throwing = tool("throwing", async () => {
        throw new Error("disk on fire");
      });
      const malformed: ModelEvent = {
        type: "block",
        block: { type: "tool_call", tool: "strict", args: {}, malformed: '{"path": "READ' },
      };
      const part = calls(
        call("nonsense"),
        malformed,
        call("strict", { path: 5 }),
        call("strict", { file: "x" }),
        call("throwing"),
      );
      const model = scriptedModel([part, says("I see.")]);
      const engine = testEngine({ model, tools: [strict, throwing] });
      expect((await engine.turn("go")).outcome).toBe("answered");
      const results = engine.events.filter((event) => event.kind === "ToolResult").map((event) => event.payload);
      expect(results.map((result) => result.status)).toEqual(["error", "error", "error", "error", "error"]);
      const words = results.map((result) => plainText(result.content));
      expect(words[0]).toContain('no tool "nonsense". Available: strict, throwing');
      expect(words[1]).toContain("not one complete JSON object");
      expect(words[2]).toContain('"path" must be a string, got 5');
      expect(words[3]).toContain('"path" is missing (string)');
      expect(words[3]).toContain('"file" is not known');
      expect(words[4]).toBe("disk on fire");
    },
  );

  verifies(
    ["L4", "L5"],
    "no later call runs after a link has ended the turn, and each still gets its result",
    async () => {
      const ran: string[] = [];
      const step = tool(
        "step",
        async ({ name }) => {
          ran.push(String(name));
          return ok("");
        },
        { concurrencySafe: false, mutating: true },
      );
      const link: ToolLink = {
        name: "05-ends",
        run: async (request, _context, next) => {
          if (request.args.name === "second")
            throw new TurnFailure(failure("QuotaExceeded", { name: "x", detail: "" }));
          return next(request);
        },
      };
      const part = calls(...["first", "second", "third"].map((name) => call("step", { name })));
      const engine = testEngine({ model: scriptedModel([part]), tools: [step], toolLinks: [link] });
      expect(await engine.turn("go")).toMatchObject({ outcome: "failed", failure: { reason: "QuotaExceeded" } });
      expect(ran).toEqual(["first"]);
      const results = engine.events.flatMap((event) => (event.kind === "ToolResult" ? [event.payload.status] : []));
      expect([results.length, results[0], results[2]]).toEqual([3, "ok", "skipped"]);
    },
  );

  verifies(["L7"], "sequential execution stops at the first failure and reports it for the rest", async () => {
    const ran: string[] = [];
    const step = tool("step", async (args) => {
      ran.push(String(args.name));
      if (args.name === "bad") throw new Error("no");
      return ok("");
    });
    const part = calls(call("step", { name: "good" }), call("step", { name: "bad" }), call("step", { name: "after" }));
    const engine = testEngine({ model: scriptedModel([part, says("hm")]), tools: [step], toolExecution: "sequential" });
    await engine.turn("go");
    expect(ran).toEqual(["good", "bad"]);
    const results = engine.events.filter((event) => event.kind === "ToolResult");
    expect(results.map((event) => event.payload.status)).toEqual(["ok", "error", "skipped"]);
  });

  verifies(
    ["L5", "L8"],
    "any mix of calls: one start and one result each, in order, unsafe ones never overlap",
    async () => {
      const kind = fc.constantFrom("safe", "unsafe", "fails", "unknown");
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(kind, fc.nat(3)), { maxLength: 12 }), async (plan) => {
          let active = 0;
          let unsafeActive = 0;
          let overlap = false;
          const ticks = async (count: number) => {
            for (let i = 0; i < count; i++) await Promise.resolve();
          };
          const safe = tool("safe", async (args) => {
            active++;
            if (unsafeActive > 0) overlap = true;
            await ticks(Number(args.wait) * 3);
            active--;
            return ok(String(args.index));
          });
          const unsafe = tool(
            "unsafe",
            async (args) => {
              if (active > 0 || unsafeActive > 0) overlap = true;
              unsafeActive++;
              await ticks(Number(args.wait) * 3);
              unsafeActive--;
              return ok(String(args.index));
            },
            { concurrencySafe: false, mutating: true },
          );
          const fails = tool("fails", async () => {
            throw new Error("x");
          });
          const part = calls(...plan.map(([name, wait], index) => call(name, { wait, index })));
          const engine = testEngine({ model: scriptedModel([part, says("end")]), tools: [safe, unsafe, fails] });
          await engine.turn("go");
          const of = (wanted: "ToolCallStarted" | "ToolResult") =>
            engine.events.flatMap((event) => (event.kind === wanted ? [event.payload.call] : []));
          expect(overlap).toBe(false);
          expect(of("ToolCallStarted")).toHaveLength(plan.length);
          expect(of("ToolResult")).toEqual(of("ToolCallStarted"));
        }),
        { numRuns: times(60, 200) },
      );
    },
  );
});
