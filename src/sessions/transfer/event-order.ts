/**
 * Makes events from a file that lost some of its lines keep the order that readers rely on (protocol/events.ts).
 *
 * 1. Complete parts pass unchanged, except the ids, which are renumbered, also in references.
 * 2. A turn without an end is ended, a call without a result gets one that says so; events without their beginning are dropped.
 */
import { AnswerEnds } from "../../protocol/answer-ends.js";
import { text } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import { eventField } from "../../protocol/event-fields.js";
import type { EventBody } from "../../protocol/events.js";
import type { CallId, TurnId } from "../../protocol/ids.js";
import { addUsage, NO_USAGE, type Usage } from "../../protocol/usage.js";
import type { ImportNotes } from "./notes.js";

interface OpenTurn {
  readonly turn: TurnId;
  iterations: number;
  usage: Usage;
}

/** They mean nothing outside of a turn. */
function isOfTurn(kind: Envelope["kind"]): boolean {
  return kind === "TextDelta" || kind === "ThinkingDelta" || eventField(kind, "turn")?.optional === false;
}

export class EventOrder {
  readonly #notes: ImportNotes;
  readonly #calls = new Set<CallId>();
  readonly #turns = new Set<TurnId>();
  /** Calls without a result, in the order they began. */
  readonly #waiting = new Map<CallId, string>();
  #open: OpenTurn | undefined;
  #last: Envelope | undefined;
  #id = 0;
  readonly #ends = new AnswerEnds();
  /** From which of the file's ids on they differ by how much. */
  readonly #shifts: { readonly from: number; readonly by: number }[] = [];

  constructor(notes: ImportNotes) {
    this.#notes = notes;
  }

  take(event: Envelope): Envelope[] {
    if (!this.#fits(event)) {
      this.#notes.count("Events left out because their beginning is lost");
      return [];
    }
    const before = this.#closing(event);
    this.#follow(event);
    this.#last = event;
    const id = ++this.#id;
    if ((this.#shifts.at(-1)?.by ?? 0) !== id - event.id) this.#shifts.push({ from: event.id, by: id - event.id });
    return [...before, this.#renamed({ ...event, id })];
  }

  #renamed(event: Envelope): Envelope {
    if (event.kind !== "CompactionTriggered" || event.payload.kept_from === undefined) return event;
    const { kept_from } = event.payload;
    const shift = this.#shifts.findLast(({ from }) => from <= kept_from)?.by ?? 0;
    return { ...event, payload: { ...event.payload, kept_from: Math.max(1, kept_from + shift) } };
  }

  end(): Envelope[] {
    return this.#last === undefined ? [] : this.#endTurn(this.#last);
  }

  #fits(event: Envelope): boolean {
    switch (event.kind) {
      case "TurnStarted":
        return !this.#turns.has(event.payload.turn);
      case "TurnEnded":
      case "Cancelled":
        return event.payload.turn === this.#open?.turn;
      case "ToolCallStarted":
        return !this.#calls.has(event.payload.call);
      case "ToolResult":
        // Results come in the order of the calls: one that is out of turn has lost those before it.
        return this.#waiting.has(event.payload.call);
      case "CostIncremented":
        return event.payload.turn === undefined || this.#open !== undefined;
      default:
        return !isOfTurn(event.kind) || this.#open !== undefined;
    }
  }

  /** Tells what has to end before this event can follow. */
  #closing(event: Envelope): Envelope[] {
    if (event.kind === "TurnStarted") return this.#endTurn(event);
    if (event.kind === "TurnEnded") return this.#endCalls(event);
    if (event.kind !== "ToolResult") return [];
    const skipped = [...this.#waiting.keys()];
    return this.#endCalls(event, skipped.slice(0, skipped.indexOf(event.payload.call)));
  }

  #follow(event: Envelope): void {
    const end = this.#ends.take(event);
    if (end !== undefined && this.#open !== undefined) this.#open.iterations++;
    switch (event.kind) {
      case "TurnStarted":
        this.#turns.add(event.payload.turn);
        this.#open = { turn: event.payload.turn, iterations: 0, usage: NO_USAGE };
        return;
      case "TurnEnded":
        this.#open = undefined;
        return;
      case "ToolCallStarted":
        this.#calls.add(event.payload.call);
        this.#waiting.set(event.payload.call, event.payload.tool);
        return;
      case "ToolResult":
        this.#waiting.delete(event.payload.call);
        return;
      case "CostIncremented":
        if (this.#open === undefined) return;
        this.#open.usage = addUsage(this.#open.usage, event.payload.usage);
        return;
    }
  }

  #endTurn(at: Envelope): Envelope[] {
    const calls = this.#endCalls(at);
    const open = this.#open;
    if (open === undefined) return calls;
    this.#open = undefined;
    this.#notes.count("Turns that had lost their end and count as cancelled");
    const payload = { ...open, outcome: "cancelled", text: "" } as const;
    return [...calls, this.#made(at, { kind: "TurnEnded", payload })];
  }

  #endCalls(at: Envelope, calls: readonly CallId[] = [...this.#waiting.keys()]): Envelope[] {
    return calls.map((call) => {
      const tool = this.#waiting.get(call) ?? "";
      this.#waiting.delete(call);
      this.#notes.count("Results of calls that were lost");
      const content = [text("The result of this call was lost.")];
      return this.#made(at, { kind: "ToolResult", payload: { call, tool, status: "cancelled", content } });
    });
  }

  #made({ session, originator, ts }: Envelope, body: EventBody): Envelope {
    return { id: ++this.#id, kind: body.kind, session, originator, ts, payload: body.payload } as Envelope;
  }
}
