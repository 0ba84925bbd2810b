/** A session at any moment: the conversation as it was after an event. Every few hundred events it keeps one, so that a step costs little. */
import type { Envelope } from "../../../protocol/envelope.js";
import type { SessionId } from "../../../protocol/ids.js";
import { type Conversation, emptyConversation, reduce } from "./conversation.js";

const KEPT_EVERY = 200;
const LONGEST_WAIT_MS = 2000;

export type StepSize = "event" | "call" | "turn";

const STOPS: Readonly<Record<Exclude<StepSize, "event">, ReadonlySet<Envelope["kind"]>>> = {
  call: new Set(["ToolCallStarted", "ToolResult", "TurnStarted", "TurnEnded"]),
  turn: new Set(["TurnStarted", "TurnEnded"]),
};

export class Past {
  readonly events: readonly Envelope[];
  /** The conversation after `index * KEPT_EVERY` events. */
  readonly #kept: Conversation[];
  #near: { readonly count: number; readonly conversation: Conversation };

  constructor(session: SessionId, events: readonly Envelope[]) {
    this.events = events;
    const empty = emptyConversation(session);
    this.#kept = [empty];
    this.#near = { count: 0, conversation: empty };
  }

  /** The conversation after the first `count` events. */
  after(count: number): Conversation {
    const wanted = Math.max(0, Math.min(count, this.events.length));
    const slot = Math.min(Math.floor(wanted / KEPT_EVERY), this.#kept.length - 1);
    const isNearer = this.#near.count <= wanted && this.#near.count > slot * KEPT_EVERY;
    let at = isNearer ? this.#near.count : slot * KEPT_EVERY;
    let conversation = (isNearer ? this.#near.conversation : this.#kept[slot]) as Conversation;
    while (at < wanted) {
      conversation = reduce(conversation, this.events[at] as Envelope);
      at++;
      if (at === this.#kept.length * KEPT_EVERY) this.#kept.push(conversation);
    }
    this.#near = { count: wanted, conversation };
    return conversation;
  }

  /** Counts the events that are over once the event with this id is. */
  countAt(id: number): number {
    let [low, high] = [0, this.events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.events[middle]?.id ?? 0) <= id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The next stop in a direction. */
  step(count: number, size: StepSize, direction: 1 | -1): number {
    const { events } = this;
    if (size === "event") return Math.max(0, Math.min(events.length, count + direction));
    for (let at = count + direction; at > 0 && at <= events.length; at += direction) {
      const event = events[at - 1];
      if (event !== undefined && STOPS[size].has(event.kind)) return at;
    }
    return direction === 1 ? events.length : 0;
  }

  /** Returns how long the next event stays away when it is played, in milliseconds. Long waits are cut. */
  waitAfter(count: number): number {
    const [from, to] = [this.events[count - 1], this.events[count]];
    if (from === undefined || to === undefined) return 0;
    return Math.max(0, Math.min(LONGEST_WAIT_MS, Date.parse(to.ts) - Date.parse(from.ts)));
  }
}

/** A mark on the scrubber. */
export type Mark = { readonly count: number; readonly kind: "turn" | "call" | "edit" | "question" | "error" };

export function marksOf(events: readonly Envelope[]): readonly Mark[] {
  return events.flatMap((event, index): Mark[] => {
    const kind = markOf(event);
    return kind === undefined ? [] : [{ count: index + 1, kind }];
  });
}

function markOf(event: Envelope): Mark["kind"] | undefined {
  switch (event.kind) {
    case "TurnStarted":
      return "turn";
    case "ToolCallStarted":
      return event.payload.tool_kind === "edit" ? "edit" : "call";
    case "ToolResult":
      return event.payload.status === "ok" ? undefined : "error";
    case "PermissionRequested":
      return "question";
    case "Error":
      return "error";
    case "TurnEnded":
      return event.payload.outcome === "failed" ? "error" : undefined;
    default:
      return undefined;
  }
}
