/**
 * Describes where answers end in a log. An AnswerEnded marks it. In logs from before that event, the cost of the answer marks it: there,
 * a CostIncremented that is neither abandoned nor for a purpose ends the answer, unless an AnswerEnded has just done so.
 */
import type { Envelope } from "./envelope.js";
import type { AnswerShape, EventPayloads } from "./events.js";

export type AnswerEnd = Omit<EventPayloads["AnswerEnded"], "turn">;

/** The cost of an answer as older logs have it: with the shape of the answer. */
export type OldCost = EventPayloads["CostIncremented"] & { readonly answer?: AnswerShape };

/** Follows the events of one session in their order. */
export class AnswerEnds {
  /** The cost of the answer that has just ended is still to come. */
  #unpaid = false;

  /** The end of an answer, if this event marks one. */
  take(event: Envelope): AnswerEnd | undefined {
    switch (event.kind) {
      case "AnswerEnded": {
        this.#unpaid = true;
        const { turn: _turn, ...end } = event.payload;
        return end;
      }
      case "CostIncremented": {
        if (!isCostOfAnswer(event.payload)) return undefined;
        const hasOwnEnd = this.#unpaid;
        this.#unpaid = false;
        return hasOwnEnd ? undefined : oldEnd(event.payload);
      }
      case "TurnStarted":
      case "TurnEnded":
      case "TextDelta":
      case "ThinkingDelta":
        this.#unpaid = false;
        return undefined;
      default:
        return undefined;
    }
  }
}

/** Tells whether it is the cost of an answer, not of a failed attempt or of work beside the conversation. */
export function isCostOfAnswer({ abandoned, purpose }: EventPayloads["CostIncremented"]): boolean {
  return abandoned === undefined && purpose === undefined;
}

/** The shape in a cost event of an older log. */
export function oldShape(cost: EventPayloads["CostIncremented"]): AnswerShape | undefined {
  return (cost as OldCost).answer;
}

/** An older cost event with another shape. */
export function withOldShape(
  cost: EventPayloads["CostIncremented"],
  shape: AnswerShape | undefined,
): EventPayloads["CostIncremented"] {
  const { answer: _answer, ...rest } = cost as OldCost;
  const changed: OldCost = { ...rest, ...(shape !== undefined && { answer: shape }) };
  return changed;
}

function oldEnd(cost: EventPayloads["CostIncremented"]): AnswerEnd {
  const { provider, model, route } = cost;
  return { provider, model, ...(route !== undefined && { route }), ...oldShape(cost) };
}
