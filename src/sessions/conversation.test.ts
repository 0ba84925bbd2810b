/** Shows how a log becomes the conversation again. `test/engine/rebuild.test.ts` compares it with the one that was live. */
import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { plainText, REFUSED_INPUT, text } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { EventBody } from "../protocol/events.js";
import type { CallId, ClientId, SessionId, TurnId } from "../protocol/ids.js";
import { NO_USAGE } from "../protocol/usage.js";
import { ConversationBuilder, type RebuildOptions } from "./conversation.js";

const turn = "turn_1" as TurnId;
const from = "cli_1" as ClientId;
const call = "call_1" as CallId;
const started = (words: string, queued?: number): EventBody => ({
  kind: "TurnStarted",
  payload: { turn, input: [text(words)], ...(queued !== undefined && { queued }) },
});
const queued = (words: string, delivery: "queue" | "steer" = "queue"): EventBody => ({
  kind: "InputQueued",
  payload: { input: [text(words)], delivery, from, identity: "human" },
});
const dropped = (...words: readonly string[]): EventBody => ({
  kind: "InputDropped",
  payload: { inputs: words.map((each) => [text(each)]), by: from },
});
const steered = (words: string): EventBody => ({
  kind: "InputSteered",
  payload: { input: [text(words)], turn, from } as never,
});
const delta = (words: string): EventBody => ({ kind: "TextDelta", payload: { text: words } });
const answered: EventBody = { kind: "AnswerEnded", payload: { turn, provider: "p", model: "m", stop: "end" } };
const ended: EventBody = {
  kind: "TurnEnded",
  payload: { turn, outcome: "answered", text: "", iterations: 1, usage: NO_USAGE },
};

function built(bodies: readonly EventBody[], options: RebuildOptions = {}) {
  const builder = new ConversationBuilder(options);
  bodies.forEach((body, at) => {
    const about = { id: at + 1, session: "sess_1" as SessionId, originator: from, ts: "2026-01-01T00:00:00.000Z" };
    builder.take({ ...about, ...body } as Envelope);
  });
  const isIdle = builder.isIdle;
  const { messages, waiting, ...rest } = builder.end();
  return {
    ...rest,
    isIdle,
    said: messages.map(({ role, content }) => `${role}: ${plainText(content)}`),
    waits: waiting.map(({ input }) => plainText(input)),
  };
}

describe("input that a hook refused", () => {
  verifies(["S6", "E3"], "is not in the conversation again, and another one that was dropped changes nothing", () => {
    expect(built([started("my password"), dropped("my password"), ended]).said).toEqual([`user: ${REFUSED_INPUT}`]);
    expect(built([started("hello"), dropped("other"), ended]).said).toEqual(["user: hello"]);
    const late = [started("hello"), delta("Hi."), answered, dropped("hello"), ended];
    expect(built(late).said).toEqual(["user: hello", "assistant: Hi."]);
    const after = [started("hello"), delta("Hi."), answered, ended, dropped("hello")];
    expect(built(after).said).toEqual(["user: hello", "assistant: Hi."]);
    expect(built([started("a"), steered("b"), dropped("a"), ended]).said).toEqual(["user: a", "user: b"]);
  });
});

describe("input that waits in a log", () => {
  verifies(["L10", "S6"], "is what no turn has taken and no client dropped, each counted once", () => {
    const first = [started("go"), queued("one"), queued("one"), queued("two")];
    expect(built(first).waits).toEqual(["one", "one", "two"]);
    expect(built([...first, dropped("one")]).waits).toEqual(["one", "two"]);
    expect(built([...first, dropped("one", "two")]).waits).toEqual(["one"]);
    expect(built([...first, dropped("none")]).waits).toEqual(["one", "one", "two"]);
    expect(built([...first, ended, started("one", 1)]).waits).toEqual(["one", "two"]);
    expect(built([...first, ended, started("one", 2)]).waits).toEqual(["two"]);
    expect(built([...first, ended, started("other")]).waits).toEqual([]);
  });

  verifies(["L10", "S6"], "for the running turn is gone when the turn has taken it, and only that", () => {
    const both = [started("go"), queued("later"), queued("a", "steer"), queued("b", "steer")];
    expect(built([...both, steered("b")]).waits).toEqual(["later", "a"]);
    // Redaction may have changed it: then it was the oldest.
    expect(built([...both, steered("***")]).waits).toEqual(["later", "b"]);
    expect(built([started("go"), queued("later"), steered("later")]).waits).toEqual(["later"]);
  });

  verifies(["S6"], "at the place where a branch was cut belongs to the original", () => {
    const log = [started("go"), queued("later"), ended];
    expect(built(log).waits).toEqual(["later"]);
    expect(built(log, { branchedAt: 3 }).waits).toEqual([]);
    expect(built(log, { branchedAt: 2 }).waits).toEqual(["later"]);
    expect([built(log).isIdle, built(log, { branchedAt: 3 }).isIdle, built(log.slice(0, 1)).isIdle]).toEqual([
      ...[false, true, false],
    ]);
  });
});

describe("a turn without an end", () => {
  verifies(["S3", "S6"], "is named with its text so far, its calls and what it used", () => {
    const asks: EventBody = { kind: "ToolCallStarted", payload: { call, tool: "bash", args: { command: "ls" } } };
    const paid: EventBody = {
      kind: "CostIncremented",
      payload: { turn, provider: "p", model: "m", usage: { ...NO_USAGE, input: 7 }, elapsed_ms: 1 },
    };
    const log = [started("go"), delta("I "), delta("will."), asks, answered, paid];
    const { unfinished, open, lastEvent, turns } = built(log);
    expect(unfinished).toEqual({ turn, text: "I will.", iterations: 1, usage: { ...NO_USAGE, input: 7 } });
    expect(open).toEqual([{ call, tool: "bash", args: { command: "ls" } }]);
    expect([lastEvent, turns]).toEqual([6, 1]);
    expect(built([...log, ended])).not.toHaveProperty("unfinished");
    expect(built([]).lastEvent).toBe(0);
  });
});
