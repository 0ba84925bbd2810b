/** Waits for the turn that takes an input. A client that leaves does not stop the turn. */
import { type InputContent, plainText } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { EventPayloads } from "../../../protocol/events.js";
import type { ClientId, TurnId } from "../../../protocol/ids.js";

export type WaitedTurn = { readonly ended: EventPayloads["TurnEnded"] } | { readonly dropped: string };

export class TurnWait {
  readonly ended: Promise<WaitedTurn>;
  readonly #client: ClientId;
  readonly #content: readonly InputContent[];
  /** Turns and steered inputs of this client, since before the input was sent. */
  readonly #taken: { readonly turn: TurnId; readonly input: readonly InputContent[] }[] = [];
  readonly #outcomes = new Map<TurnId, EventPayloads["TurnEnded"]>();
  readonly #settle: (turn: WaitedTurn) => void;
  #state: "started" | "waiting" | undefined;

  constructor(client: ClientId, content: readonly InputContent[]) {
    this.#client = client;
    this.#content = content;
    let settle: (turn: WaitedTurn) => void = () => {};
    this.ended = new Promise((resolve) => {
      settle = resolve;
    });
    this.#settle = settle;
  }

  /** Takes the live events of the session, from before the input was sent. */
  take({ kind, payload, originator }: Envelope): void {
    if (kind === "TurnStarted" && originator === this.#client) this.#taken.push(payload);
    if (kind === "InputSteered" && payload.from === this.#client) this.#taken.push(payload);
    if (kind === "TurnEnded") this.#outcomes.set(payload.turn, payload);
    if (kind === "InputDropped" && payload.inputs.some((input) => this.#holds(input))) {
      this.#settle({ dropped: `The input was dropped by ${payload.by} before a turn took it.` });
    }
    this.#look();
    if (kind === "SessionEnded") this.#settle({ dropped: "The session ended before the turn did." });
  }

  /** The input was accepted: it began a turn, or it waits for one. */
  accepted(state: "started" | "waiting"): void {
    this.#state = state;
    this.#look();
  }

  #look(): void {
    if (this.#state === undefined) return;
    // Other inputs of this client may have waited before this one.
    const mine = this.#state === "started" ? this.#taken[0] : this.#taken.find(({ input }) => this.#holds(input));
    const outcome = mine && this.#outcomes.get(mine.turn);
    if (outcome !== undefined) this.#settle({ ended: outcome });
  }

  /** The name of a route in front of the text is taken off by then. */
  #holds(input: readonly InputContent[]): boolean {
    const [text, wanted] = [plainText(input).trim(), plainText(this.#content).trim()];
    return text.endsWith(wanted) || wanted.endsWith(text);
  }
}
