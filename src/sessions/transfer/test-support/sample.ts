/** Sessions and transcripts made up for the tests. */

import { withOldShape } from "../../../protocol/answer-ends.js";
import { text } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { EventBody } from "../../../protocol/events.js";
import type { CallId, ClientId, LogId, SessionId, TurnId } from "../../../protocol/ids.js";
import type { JsonObject } from "../../../protocol/json.js";
import type { Usage } from "../../../protocol/usage.js";
import type { Redactor } from "../../redacted-events.js";
import type { SessionRecord } from "../../store.js";

const ulid = (letter: string) => `01${letter.repeat(24)}`;

export const SESSION: SessionId = `sess_${ulid("A")}`;
export const LOG: LogId = `log_${ulid("B")}`;
export const CLIENT: ClientId = `cli_${ulid("C")}`;
export const OTHER_SESSION: SessionId = `sess_${ulid("D")}`;
export const OTHER_LOG: LogId = `log_${ulid("E")}`;
export const turn = (letter: string): TurnId => `turn_${ulid(letter)}`;
export const call = (letter: string): CallId => `call_${ulid(letter)}`;
export const usage = (input: number, output: number): Usage => ({
  input,
  output,
  cache_read: 0,
  cache_write: 0,
  reasoning: 0,
});

/** Looks at a whole text at once. */
export function redactorOf(redact: (words: string) => string): Redactor {
  const stream = () => {
    let held = "";
    return {
      push: (words: string) => {
        held += words;
        return [];
      },
      end: () => [{ text: redact(held), length: held.length, isMarker: redact(held) !== held }],
    };
  };
  return { redact, stream };
}

export const OPTIONS = {
  session: OTHER_SESSION,
  log: OTHER_LOG,
  client: CLIENT,
  redactor: redactorOf((words) => words),
};

export const RECORD: SessionRecord = {
  id: SESSION,
  log: LOG,
  cwd: "/home/ann/project",
  provider: "anthropic",
  model: "some-model",
  created_at: "2026-03-01T10:00:00.000Z",
  title: "Count the files",
  pinned: true,
  last_event: 0,
  active_at: "2026-03-01T10:00:00.000Z",
  expired_to: 0,
};

export function envelopes(bodies: readonly EventBody[], session = SESSION): Envelope[] {
  return bodies.map(
    ({ kind, payload }, index) =>
      ({
        id: index + 1,
        kind,
        session,
        originator: CLIENT,
        ts: new Date(Date.UTC(2026, 2, 1, 10) + index * 1000).toISOString(),
        payload,
      }) as Envelope,
  );
}

/** Two turns with everything in them that holds an id, and some things that do not. Ends of turns: events 16 and 22. */
export function sampleEvents(): Envelope[] {
  const first = turn("F");
  const second = turn("G");
  return envelopes([
    { kind: "TurnStarted", payload: { turn: first, input: [text(`how many files? see ${call("H")}`)] } },
    { kind: "ThinkingDelta", payload: { text: "I will ", provider: "anthropic" } },
    { kind: "ThinkingDelta", payload: { text: "count.", provider: "anthropic", opaque: { signature: "c2ln" } } },
    { kind: "TextDelta", payload: { text: "Let me " } },
    { kind: "TextDelta", payload: { text: "look." } },
    {
      kind: "CostIncremented",
      // As older logs have it, without an AnswerEnded.
      payload: withOldShape(
        { turn: first, provider: "anthropic", model: "some-model", usage: usage(10, 5), elapsed_ms: 900 },
        {
          calls: 2,
          blocks: [
            { type: "thinking", deltas: 2 },
            { type: "text", deltas: 2 },
            { type: "tool_use", call: call("H") },
            { type: "tool_use", call: call("J"), malformed: "{" },
          ],
        },
      ),
    },
    { kind: "PermissionRequested", payload: { call: call("H"), tool: "bash", args: {}, summary: "ls" } },
    {
      kind: "PermissionResolved",
      payload: { call: call("H"), tool: "bash", decision: "allow_once", decided_by: "person" },
    },
    { kind: "ToolCallStarted", payload: { call: call("H"), tool: "bash", args: { command: "ls | wc -l" } } },
    { kind: "ToolCallProgress", payload: { call: call("H"), text: "3" } },
    { kind: "ToolResult", payload: { call: call("H"), tool: "bash", status: "ok", content: [text("3\n")] } },
    { kind: "ToolCallStarted", payload: { call: call("J"), tool: "bash", args: {} } },
    { kind: "ToolResult", payload: { call: call("J"), tool: "bash", status: "error", content: [text("not JSON")] } },
    { kind: "TextDelta", payload: { text: "There are three." } },
    { kind: "TurnTiming", payload: { turn: first, parts: { "provider/total": 900 } } },
    {
      kind: "TurnEnded",
      payload: { turn: first, outcome: "answered", text: "There are three.", iterations: 2, usage: usage(10, 5) },
    },
    { kind: "TurnStarted", payload: { turn: second, input: [text("and folders?")] } },
    { kind: "CompactionTriggered", payload: { turn: second, reason: "full", summary: "There are three files." } },
    { kind: "TextDelta", payload: { text: "I stop" } },
    { kind: "Error", payload: { turn: second, reason: "StreamInterrupted", message: "closed" } },
    { kind: "Cancelled", payload: { turn: second, by: "person" } },
    {
      kind: "TurnEnded",
      payload: { turn: second, outcome: "cancelled", text: "I stop", iterations: 1, usage: usage(0, 0) },
    },
    { kind: "SessionEnded", payload: { reason: "user" } },
  ]);
}

export async function* stream<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Tells what is wrong with the order of some events; nothing when a store may hold them. */
export function orderProblems(events: readonly Envelope[], session: SessionId): string[] {
  const problems: string[] = [];
  const begun: CallId[] = [];
  const turns = new Set<TurnId>();
  let open: TurnId | undefined;
  let results = 0;
  let time = "";
  for (const [index, event] of events.entries()) {
    const report = (problem: string) => problems.push(`event ${event.id} (${event.kind}): ${problem}`);
    if (event.id !== index + 1) report(`should have the id ${index + 1}`);
    if (event.session !== session) report("is of another session");
    if (new Date(event.ts).toISOString() !== event.ts) report(`has the time ${event.ts}`);
    if (event.ts < time) report("goes back in time");
    time = event.ts;
    if (event.kind === "TurnStarted") {
      if (open !== undefined) report("begins inside a turn");
      if (turns.has(event.payload.turn)) report("begins again");
      if (event.payload.input.length === 0) report("has no input");
      turns.add(event.payload.turn);
      open = event.payload.turn;
    } else if (event.kind === "TurnEnded") {
      if (event.payload.turn !== open) report("ends what is not open");
      if (results < begun.length) report("leaves calls without a result");
      open = undefined;
    } else if (event.kind === "ToolCallStarted") {
      if (begun.includes(event.payload.call)) report("begins again");
      begun.push(event.payload.call);
    } else if (event.kind === "ToolResult") {
      if (begun[results] !== event.payload.call) report("is not the next result");
      results++;
    } else if (event.kind === "CostIncremented" || event.kind === "TextDelta" || event.kind === "ThinkingDelta") {
      if (open === undefined) report("is outside of a turn");
    }
  }
  if (open !== undefined) problems.push("the last turn has no end");
  if (results < begun.length) problems.push("a call has no result");
  return problems;
}

/** Lines of a Claude Code transcript, each hanging on the one before unless it says otherwise. */
export class ClaudeLines {
  readonly lines: JsonObject[] = [];
  #count = 0;
  #tip: string | null = null;

  user(content: JsonObject[string], more: JsonObject = {}): string {
    return this.#add({ type: "user", message: { role: "user", content }, ...more });
  }

  /** One block of the answer `id`. */
  assistant(id: string, block: JsonObject, more: JsonObject = {}): string {
    const { stop_reason = null, ...rest } = more;
    const tokens = { input_tokens: 3, cache_creation_input_tokens: 4, cache_read_input_tokens: 5, output_tokens: 6 };
    const message = { id, role: "assistant", model: "claude-some", content: [block], stop_reason, usage: tokens };
    return this.#add({ type: "assistant", requestId: `req-${id}`, message, ...rest });
  }

  result(call: string, content: JsonObject[string], more: JsonObject = {}): string {
    const { is_error = false, ...rest } = more;
    return this.user([{ type: "tool_result", tool_use_id: call, content, is_error }], rest);
  }

  system(subtype: string, more: JsonObject = {}): string {
    return this.#add({ type: "system", subtype, ...more });
  }

  other(line: JsonObject): void {
    this.lines.push(line);
  }

  text(): string[] {
    return this.lines.map((line) => JSON.stringify(line));
  }

  #add(line: JsonObject): string {
    const uuid = `uuid-${++this.#count}`;
    const timestamp = new Date(Date.UTC(2026, 1, 1, 12) + this.#count * 1000).toISOString();
    const place = { isSidechain: false, cwd: "/home/ann/project", sessionId: "s-1", version: "2.1.0" };
    this.lines.push({ parentUuid: this.#tip, ...place, uuid, timestamp, ...line });
    this.#tip = uuid;
    return uuid;
  }
}

export const toolUse = (id: string, name: string, input: JsonObject): JsonObject => ({
  type: "tool_use",
  id,
  name,
  input,
});

/** Lines of a Codex rollout. */
export class CodexLines {
  readonly lines: JsonObject[] = [];

  constructor() {
    this.add("session_meta", {
      id: "id-1",
      cwd: "/home/ann/project",
      model_provider: "openai",
      cli_version: "0.100.0",
    });
    this.add("turn_context", { cwd: "/home/ann/project", model: "gpt-some" });
  }

  add(type: string, payload: JsonObject): void {
    const timestamp = new Date(Date.UTC(2026, 4, 1, 9) + this.lines.length * 1000).toISOString();
    this.lines.push({ timestamp, type, payload });
  }

  item(payload: JsonObject): void {
    this.add("response_item", payload);
  }

  user(...texts: readonly string[]): void {
    const content = texts.map((words) => ({ type: "input_text", text: words }));
    this.item({ type: "message", role: "user", content });
  }

  assistant(words: string): void {
    this.item({ type: "message", role: "assistant", content: [{ type: "output_text", text: words }] });
  }

  tokens(total: number, last: JsonObject): void {
    const info = { total_token_usage: { total_tokens: total }, last_token_usage: last };
    this.add("event_msg", { type: "token_count", info });
  }

  text(): string[] {
    return this.lines.map((line) => JSON.stringify(line));
  }
}
