/** Logs for the tests of the replay: written event by event, by default a second apart. */
import { text } from "../../../../protocol/content.js";
import type { Envelope } from "../../../../protocol/envelope.js";
import type { EventKind, EventPayloads, ToolStatus } from "../../../../protocol/events.js";
import type { CallId, TurnId } from "../../../../protocol/ids.js";
import type { JsonObject } from "../../../../protocol/json.js";
import type { EventRange, EventSource } from "../step-stream.js";

export const START = Date.UTC(2026, 0, 31, 12, 0, 0);

export class SampleLog {
  readonly events: Envelope[] = [];
  #time = START;
  #turns = 0;

  add<K extends EventKind>(kind: K, payload: EventPayloads[K], afterMs = 1000): this {
    if (this.events.length > 0) this.#time += afterMs;
    const id = this.events.length + 1;
    const ts = new Date(this.#time).toISOString();
    this.events.push({ id, kind, session: "sess_1", originator: "cli_1", ts, payload } as Envelope);
    return this;
  }

  get #turn(): TurnId {
    return `turn_${this.#turns}`;
  }

  started(input: string): this {
    this.#turns++;
    return this.add("TurnStarted", { turn: this.#turn, input: [text(input)] });
  }

  answers(...deltas: string[]): this {
    for (const delta of deltas) this.add("TextDelta", { text: delta }, 10);
    return this;
  }

  thought(...deltas: string[]): this {
    for (const delta of deltas) this.add("ThinkingDelta", { text: delta }, 10);
    return this;
  }

  called(call: string, tool: string, args: JsonObject): this {
    return this.add("ToolCallStarted", { call: callId(call), tool, args });
  }

  returned(call: string, tool: string, output: string, status: ToolStatus = "ok"): this {
    return this.add("ToolResult", { call: callId(call), tool, status, content: [text(output)] });
  }

  paid(model = "mock", input = 100, output = 10): this {
    const usage = { input, output, cache_read: 0, cache_write: 0, reasoning: 0 };
    return this.add("CostIncremented", { turn: this.#turn, provider: "test", model, usage, elapsed_ms: 1500 }, 0);
  }

  ended(outcome: EventPayloads["TurnEnded"]["outcome"] = "answered"): this {
    const usage = { input: 100, output: 10, cache_read: 0, cache_write: 0, reasoning: 0 };
    this.add("TurnTiming", { turn: this.#turn, parts: { "provider/total": 1234.5, "tool/bash": 20 } }, 0);
    return this.add("TurnEnded", { turn: this.#turn, outcome, text: "", iterations: 1, usage }, 0);
  }
}

export function callId(name: string): CallId {
  return `call_${name}`;
}

/** Two turns with nearly every kind of event. */
export function sampleLog(): SampleLog {
  return new SampleLog()
    .started("List the files")
    .thought("I should ", "use ls.")
    .answers("Let me ", "look.")
    .called("a", "bash", { command: "ls -la" })
    .paid()
    .add("PermissionRequested", { call: callId("a"), tool: "bash", args: { command: "ls -la" }, summary: "Run ls -la" })
    .add("PermissionResolved", {
      call: callId("a"),
      tool: "bash",
      decision: "allow_once",
      decided_by: "person",
    })
    .add("ToolCallProgress", { call: callId("a"), text: "one.txt\n" })
    .returned("a", "bash", "one.txt\ntwo.txt")
    .answers("There are ", "two files.")
    .paid()
    .ended()
    .started("Thanks")
    .answers("You are welcome.")
    .paid("other", 200, 20)
    .ended();
}

/** A session with this number of turns, eight events each. */
export function longLog(turns: number): SampleLog {
  const log = new SampleLog();
  for (let turn = 1; turn <= turns; turn++) {
    log
      .started(`Question ${turn}`)
      .called(`c${turn}`, "bash", { command: `echo ${turn}` })
      .returned(`c${turn}`, "bash", `output ${turn}`)
      .answers(`Answer ${turn}, `, "in two parts.")
      .paid()
      .ended();
  }
  return log;
}

/** Events like those of a store; counts reads. */
export function sourceOf(events: readonly Envelope[]): EventSource & { readonly reads: { events: number } } {
  const reads = { events: 0 };
  const source = async function* ({ after = 0, limit = Number.POSITIVE_INFINITY }: EventRange) {
    let given = 0;
    let index = firstAfter(events, after);
    for (; index < events.length && given < limit; index++, given++) {
      reads.events++;
      yield events[index] as Envelope;
    }
  };
  return Object.assign(source, { reads });
}

function firstAfter(events: readonly Envelope[], after: number): number {
  // Ids may have gaps, but never fewer than the position.
  let index = Math.min(after, events.length);
  while (index > 0 && (events[index - 1]?.id ?? 0) > after) index--;
  return index;
}
