/** For tests: sessions and events with known content. */
import type { InputContent } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { AnswerShape, EventBody, EventPayloads, ToolStatus } from "../../../protocol/events.js";
import type { CallId, SessionId, TurnId } from "../../../protocol/ids.js";
import type { JsonObject } from "../../../protocol/json.js";
import { NO_USAGE } from "../../../protocol/usage.js";

import { SAMPLE_KEY, sampleIds, sampleSession, sampleTime } from "../../test-support/sample-session.js";

export { SAMPLE_KEY, sampleIds, sampleSession, sampleTime };

const CLIENT = sampleIds(1).next("cli");

export function sampleEvent(session: SessionId, id: number): Envelope {
  const filler = id % 50 === 0 ? `${id % 100} large `.repeat(1200) : "";
  const payload = { text: `The quick conversation, event ${id}. ${filler}` };
  return { id, kind: "TextDelta", session, originator: CLIENT, ts: sampleTime(id), payload };
}

export function sampleEvents(session: SessionId, from: number, to: number): Envelope[] {
  return Array.from({ length: to - from + 1 }, (_, i) => sampleEvent(session, from + i));
}

/** Events one after another, as a run publishes them. */
export class Script {
  readonly events: Envelope[] = [];
  readonly #session: SessionId;
  readonly #first: number;
  readonly #turn: TurnId = sampleIds(5).next("turn");

  constructor(session: SessionId, first = 1) {
    this.#session = session;
    this.#first = first;
  }

  add(body: EventBody): this {
    const id = this.#first + this.events.length;
    this.events.push({ id, session: this.#session, originator: CLIENT, ts: sampleTime(id), ...body } as Envelope);
    return this;
  }

  asks(...input: readonly (string | InputContent)[]): this {
    const content = input.map((each) => (typeof each === "string" ? ({ type: "text", text: each } as const) : each));
    return this.add({ kind: "TurnStarted", payload: { turn: this.#turn, input: content } });
  }

  says(...texts: readonly string[]): this {
    for (const text of texts) this.add({ kind: "TextDelta", payload: { text } });
    return this;
  }

  thinks(payload: EventPayloads["ThinkingDelta"]): this {
    return this.add({ kind: "ThinkingDelta", payload });
  }

  calls(call: CallId, tool: string, args: JsonObject = {}): this {
    return this.add({ kind: "ToolCallStarted", payload: { call, tool, args } });
  }

  paid(answer?: AnswerShape): this {
    const usage = { ...NO_USAGE, input: 10, output: 5 };
    const fields = { turn: this.#turn, provider: "offline", model: "echo", usage, elapsed_ms: 3 };
    return this.add({ kind: "CostIncremented", payload: { ...fields, ...(answer && { answer }) } });
  }

  returns(call: CallId, tool: string, text: string, status: ToolStatus = "ok"): this {
    return this.add({ kind: "ToolResult", payload: { call, tool, status, content: [{ type: "text", text }] } });
  }

  ends(more: Partial<EventPayloads["TurnEnded"]> = {}): this {
    const fields = { turn: this.#turn, outcome: "answered", text: "", iterations: 1, usage: NO_USAGE } as const;
    return this.add({ kind: "TurnEnded", payload: { ...fields, ...more } });
  }

  get next(): Script {
    return new Script(this.#session, this.#first + this.events.length);
  }
}
