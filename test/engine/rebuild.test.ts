import fc from "fast-check";
import { describe, expect } from "vitest";
import type { ModelEvent } from "../../src/engine/ports.js";
import { withOldShape } from "../../src/protocol/answer-ends.js";
import { type AssistantBlock, type Message, text } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import { NO_USAGE } from "../../src/protocol/usage.js";
import { ConversationBuilder, type RebuiltConversation, withResults } from "../../src/sessions/conversation.js";
import { MessageFold } from "../../src/sessions/files/message-fold.js";
import { ok, type Part, scriptedModel, testEngine, tool } from "../support/engine.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

type Piece = "text" | "thought" | "signed" | "look" | "change" | "malformed" | "opaque" | "yield";

const pieces = fc.array(
  fc.constantFrom<Piece>("text", "thought", "signed", "look", "change", "malformed", "opaque", "yield"),
  { maxLength: 6 },
);
const answer = fc.record({ pieces, fails: fc.boolean(), cut: fc.boolean() });

function play({ pieces: wanted, fails, cut }: { pieces: Piece[]; fails: boolean; cut: boolean }): Part {
  return async function* () {
    let n = 0;
    for (const piece of wanted) yield [...happenings(piece, n++)];
    if (cut) yield [{ type: "text", text: "half a sen" }];
    if (fails) throw new Error("the line went dead");
    yield [{ type: "stop", reason: "end" }];
  };
}

function* happenings(piece: Piece, n: number): Generator<ModelEvent> {
  const words = `${piece} ${n}`;
  switch (piece) {
    case "text":
      yield { type: "text", text: words };
      yield { type: "text", text: "." };
      yield { type: "block", block: text(`${words}.`) };
      return;
    case "thought":
    case "signed": {
      yield { type: "thinking", text: words };
      const opaque = piece === "signed" ? { opaque: { signature: words } } : {};
      yield { type: "block", block: { type: "thinking", text: words, provider: "scripted", ...opaque } };
      return;
    }
    case "malformed":
      yield { type: "block", block: { type: "tool_call", tool: "look", args: {}, malformed: `{"n": ${n}` } };
      return;
    case "look":
    case "change":
      yield { type: "block", block: { type: "tool_call", tool: piece, args: { n } } };
      return;
    case "opaque":
      yield { type: "block", block: { type: "opaque", provider: "scripted", data: { n } } };
      return;
    case "yield":
      yield { type: "block", block: { type: "yield" } };
  }
}

function engineFor(answers: readonly { pieces: Piece[]; fails: boolean; cut: boolean }[]) {
  const look = tool("look", async (args) => ok(`saw ${args.n}`));
  const change = tool("change", async (args) => ok(`did ${args.n}`), { mutating: true, concurrencySafe: false });
  return testEngine({ model: scriptedModel(answers.map(play)), tools: [look, change], maxIterations: 3 });
}

function rebuild(events: readonly Envelope[]): RebuiltConversation {
  const builder = new ConversationBuilder();
  for (const event of events) builder.take(event);
  return builder.end();
}

/** Tells what a provider insists on: each call answered exactly once, in the next message. */
function expectValid(messages: readonly Message[]): void {
  for (const [i, message] of messages.entries()) {
    expect(message.content.length).toBeGreaterThan(0);
    const calls = (message.content as readonly AssistantBlock[]).flatMap((block) =>
      block.type === "tool_use" ? [block.call] : [],
    );
    if (calls.length === 0) continue;
    const next = messages[i + 1]?.content ?? [];
    expect(next.flatMap((block) => (block.type === "tool_result" ? [block.call] : []))).toEqual(calls);
  }
}

/** The messages that the files of a session hold, each result with the others of its answer. */
function fromFiles(events: readonly Envelope[]): { role: string; content: readonly unknown[] }[] {
  const fold = new MessageFold(0);
  for (const event of events) fold.take(event);
  const messages: { role: string; content: readonly unknown[]; results?: true }[] = [];
  for (const { entry } of [...fold.changed.values()].sort((a, b) => a.at - b.at)) {
    if (entry.role !== "tool_result") {
      messages.push({ role: entry.role, content: entry.content });
      continue;
    }
    const { call, tool: name, content, status } = entry;
    const block = { type: "tool_result", call, tool: name, content, is_error: status !== "ok" };
    const last = messages.at(-1);
    if (last?.results) messages[messages.length - 1] = { ...last, content: [...last.content, block] };
    else messages.push({ role: "user", content: [block], results: true });
  }
  return messages.map(({ role, content }) => ({ role, content }));
}

/** As programs wrote it that had no AnswerEnded. */
function withoutAnswerEnded(events: readonly Envelope[]): Envelope[] {
  return events.flatMap((event, i): Envelope[] => {
    if (event.kind === "CostIncremented" && events[i - 1]?.kind === "AnswerEnded") return [];
    if (event.kind !== "AnswerEnded") return [event];
    const { turn, provider, model, route: _route, stop: _stop, ...shape } = event.payload;
    const cost = { turn, provider, model, usage: NO_USAGE, elapsed_ms: 1 };
    return [{ ...event, kind: "CostIncremented", payload: withOldShape(cost, shape) }];
  });
}

describe("the conversation from the log", () => {
  verifies(["S6", "S2"], "is the same from the files of a session, and from a log without AnswerEnded", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 6 }), async (answers) => {
        const engine = engineFor(answers);
        for (let turn = 0; turn < 2; turn++) await engine.turn(`prompt ${turn}`);
        const { messages } = rebuild(engine.events);
        const old = withoutAnswerEnded(engine.events);
        expect(rebuild(old).messages).toEqual(messages);
        const spoken = messages.map(({ role, content }) => ({ role, content }));
        expect(fromFiles(engine.events)).toEqual(spoken);
        expect(fromFiles(old)).toEqual(spoken);
      }),
      { numRuns: 150, seed: 6 },
    );
  });

  verifies(["S6", "L11"], "is the one of the live run, whatever the answers were made of", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 8 }), async (answers) => {
        const engine = engineFor(answers);
        for (let turn = 0; turn < 3; turn++) await engine.turn(`prompt ${turn}`);
        const rebuilt = rebuild(engine.events);
        expect(rebuilt.messages).toEqual(engine.conversation);
        expect(rebuilt.open).toEqual([]);
        expect(rebuilt.unfinished).toBeUndefined();
        expect(rebuilt.turns).toBe(3);
      }),
      { numRuns: times(60, 300), seed: 4 },
    );
  });

  verifies(["S6", "S3"], "can continue from any event at which the log may end", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 4 }), async (answers) => {
        const engine = engineFor(answers);
        await engine.turn("prompt");
        for (let end = 1; end <= engine.events.length; end++) {
          const events = engine.events.slice(0, end);
          const rebuilt = rebuild(events);
          const started = events.flatMap((event) => (event.kind === "ToolCallStarted" ? [event.payload.call] : []));
          const done = new Set(events.flatMap((event) => (event.kind === "ToolResult" ? [event.payload.call] : [])));
          expect(rebuilt.open.map(({ call }) => call)).toEqual(started.filter((call) => !done.has(call)));
          expect(rebuilt.unfinished === undefined).toBe(end === engine.events.length);
          expectValid(withResults(rebuilt, new Map()));
        }
      }),
      { numRuns: 100, seed: 5 },
    );
  });

  verifies(["X7", "S6"], "begins at the last summary", async () => {
    const engine = engineFor([
      { pieces: ["text"], fails: false, cut: false },
      { pieces: ["look", "text"], fails: false, cut: false },
    ]);
    await engine.turn("first");
    engine.bus.publish("CompactionTriggered", { reason: "asked", summary: "All that was said." });
    const before = engine.conversation.length;
    await engine.turn("second");
    const expected = [{ role: "user", content: [text("All that was said.")] }, ...engine.conversation.slice(before)];
    expect(rebuild(engine.events).messages).toEqual(expected);
    const at = engine.events.findIndex((event) => event.kind === "CompactionTriggered");
    expect(rebuild(engine.events.slice(at)).messages).toEqual(expected);
  });

  verifies(["X7", "S6"], "keeps what a turn says after a summary in its middle", async () => {
    const engine = engineFor([
      { pieces: ["look"], fails: false, cut: false },
      { pieces: ["text"], fails: false, cut: false },
    ]);
    await engine.turn("first");
    const result = engine.events.findIndex((event) => event.kind === "ToolResult");
    const started = engine.events[0];
    const turn = started?.kind === "TurnStarted" ? started.payload.turn : undefined;
    const compacted = {
      ...started,
      kind: "CompactionTriggered",
      payload: { turn, reason: "full", summary: "So far." },
    };
    const events = [compacted as Envelope, ...engine.events.slice(result + 1)];
    expect(rebuild(events).messages).toEqual([
      { role: "user", content: [text("So far.")] },
      engine.conversation.at(-1),
    ]);
    expect(rebuild(events.slice(0, -1)).unfinished).toMatchObject({ turn });
  });
});
