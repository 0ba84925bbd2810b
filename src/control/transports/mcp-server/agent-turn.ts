/**
 * A turn that an outer agent waits for, and what it gets back: the final answer, the cost and what was used.
 *
 * 1. The result is that of one turn: the one that the input started, or the one that was running.
 * 2. A turn that takes longer than the caller waits goes on; the caller gets what happened so far.
 */
import type { Clock } from "../../../base/clock.js";
import type { EngineClient } from "../../../protocol/client.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { EventPayloads } from "../../../protocol/events.js";
import type { CallId, SessionId, TurnId } from "../../../protocol/ids.js";
import type { JsonObject, JsonValue } from "../../../protocol/json.js";
import { roundUsd } from "../../../protocol/usage.js";

export interface TurnWatch {
  /** The turn has ended, or the caller stopped waiting. */
  readonly result: Promise<JsonObject>;
  stop(): void;
}

export interface WatchOptions {
  readonly client: EngineClient;
  readonly session: SessionId;
  readonly clock: Clock;
  /** `own`: the next turn that this client starts; `running`: the one that runs now, or the next. */
  readonly turn: "own" | "running";
  /** The events of a running turn up to now, and the id of the last: live ones up to there are among them. */
  readonly earlier?: Promise<{ readonly events: readonly Envelope[]; readonly last: number }>;
  readonly waitMs?: number | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
  /** Called when a call waits for a person. */
  readonly onQuestion?: ((summary: string) => void) | undefined;
}

/** Starts to watch at once, so that no event is missed between the input and its turn. */
export function watchTurn(options: WatchOptions): TurnWatch {
  const { client, session, clock, waitMs, earlier } = options;
  const record = new TurnRecord(options);
  let finish: (result: JsonObject) => void = () => {};
  const result = new Promise<JsonObject>((resolve) => {
    finish = resolve;
  });
  let held: Envelope[] | undefined = earlier && [];
  const take = (event: Envelope) => {
    if (record.isOver) return;
    record.add(event);
    if (record.isOver) stop();
  };
  const unsubscribe = client.subscribe((event) => {
    if (event.session !== session) return;
    if (held === undefined) take(event);
    else held.push(event);
  });
  void earlier?.then(({ events, last }) => {
    const newer = held?.filter(({ id }) => id > last) ?? [];
    held = undefined;
    for (const event of [...events, ...newer]) take(event);
  });
  const stopTimer = waitMs === undefined ? undefined : clock.after(waitMs, () => stop());
  const stop = () => {
    unsubscribe();
    stopTimer?.();
    finish(record.summary());
  };
  return { result, stop };
}

class TurnRecord {
  readonly #options: WatchOptions;
  readonly #tools = new Set<string>();
  readonly #questions = new Map<CallId, string>();
  readonly #denied: JsonObject[] = [];
  #turn: TurnId | undefined;
  #usd = 0;
  #isPriceKnown = true;
  #calls = 0;
  #text = "";
  #end: EventPayloads["TurnEnded"] | undefined;
  #hasEnded = false;
  #wasDropped = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#end !== undefined || this.#hasEnded || this.#wasDropped;
  }

  add(event: Envelope): void {
    switch (event.kind) {
      case "TurnStarted":
        if (this.#options.turn === "own" && event.originator !== this.#options.client.id) return;
        this.#turn ??= event.payload.turn;
        return;
      case "InputDropped":
        if (this.#turn === undefined && event.payload.by === this.#options.client.id) this.#wasDropped = true;
        return;
      case "SessionEnded":
        this.#hasEnded = true;
        return;
      case "TurnEnded":
        if (this.#turn === undefined && this.#options.turn === "running") this.#turn = event.payload.turn;
        if (event.payload.turn === this.#turn) this.#end = event.payload;
        return;
      default:
        // Before its own turn, the events are those of another one.
        if (this.#turn !== undefined || this.#options.turn === "running") this.#count(event);
    }
  }

  #count(event: Envelope): void {
    switch (event.kind) {
      case "TextDelta":
        this.#text += event.payload.text;
        return;
      case "AnswerEnded":
        this.#calls++;
        return;
      case "ToolCallStarted":
        this.#text = "";
        this.#tools.add(event.payload.tool);
        this.#options.onProgress?.(event.payload.tool);
        return;
      case "CostIncremented":
        this.#pay(event.payload.cost?.usd);
        return;
      case "SubagentEnded":
        this.#pay(event.payload.cost?.usd);
        return;
      case "PermissionRequested":
        this.#questions.set(event.payload.call, event.payload.summary);
        this.#options.onProgress?.(`waits for a person: ${event.payload.summary}`);
        this.#options.onQuestion?.(event.payload.summary);
        return;
      case "PermissionResolved":
        this.#answered(event.payload);
    }
  }

  #pay(usd: number | undefined): void {
    if (usd === undefined) this.#isPriceKnown = false;
    else this.#usd = roundUsd(this.#usd + usd);
  }

  #answered({ call, tool, decision, decided_by: by }: EventPayloads["PermissionResolved"]): void {
    const summary = this.#questions.get(call);
    this.#questions.delete(call);
    if (decision !== "deny") return;
    const reason = by.startsWith("permission_timeout") ? "PermissionTimeout" : "PermissionDenied";
    this.#denied.push({ tool, reason, by, ...(summary !== undefined && { summary }) });
  }

  summary(): JsonObject {
    const end = this.#end;
    const more: Record<string, JsonValue> = {};
    if (end?.failure !== undefined) more.failure = { reason: end.failure.reason, message: end.failure.message };
    if (this.#denied.length > 0) more.denied = this.#denied;
    if (this.#questions.size > 0) more.waiting_for_permission = [...this.#questions.values()];
    if (!this.isOver) more.next = "The turn continues. wait_for_turn waits for its end, cancel_turn stops it.";
    return {
      session: this.#options.session,
      ...(this.#turn !== undefined && { turn: this.#turn }),
      state: this.#state(),
      text: end?.text ?? this.#text,
      cost: this.#isPriceKnown ? this.#usd : null,
      turns: end?.iterations ?? this.#calls,
      tools_used: [...this.#tools],
      ...more,
    };
  }

  #state(): string {
    if (this.#end !== undefined) return this.#end.outcome;
    if (this.#wasDropped) return "dropped";
    return this.#hasEnded ? "session_ended" : "running";
  }
}
