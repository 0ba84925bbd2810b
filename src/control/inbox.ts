/**
 * Input that came while a turn ran.
 *
 * 1. Oldest first: what waits to steer is handed over in its order, and what is left at the end of a turn is worked on in the order
 *    it came, each as a turn of its own.
 * 2. Everything that is accepted is told, when it begins to wait and when it stops to: the log alone says what waits.
 * 3. The sender learns how the turn that took it ended, or that it was dropped.
 */
import type { Bus } from "../engine/bus.js";
import type { TurnResult } from "../engine/loop.js";
import type { SteeringInput } from "../engine/turn.js";
import type { Identity } from "../protocol/client.js";
import type { InputContent } from "../protocol/content.js";
import type { InputDelivery } from "../protocol/events.js";
import type { ClientId } from "../protocol/ids.js";

/** Whose input it is. */
export interface Originator {
  readonly id: ClientId;
  readonly identity: Identity;
}

export interface WaitingInput {
  readonly content: readonly InputContent[];
  readonly from: Originator;
  readonly delivery: InputDelivery;
  /** It became part of this turn; without one it was given up. */
  readonly settle: (turn?: Promise<TurnResult>) => void;
}

export interface Waiting {
  readonly waiting: InputDelivery;
  /** When a turn has begun to work on it; never when it was given up. */
  readonly begun: Promise<void>;
  /** How that turn ended; undefined when it was given up. */
  readonly ended: Promise<TurnResult | undefined>;
  /** Gives it up, unless a turn has taken it. */
  withdraw(): void;
}

export class Inbox {
  readonly #bus: Bus;
  #inputs: WaitingInput[] = [];

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  get size(): number {
    return this.#inputs.length;
  }

  add(input: Pick<WaitingInput, "content" | "from" | "delivery">): Waiting {
    const { content, from, delivery } = input;
    let begin: () => void = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    let settle: WaitingInput["settle"] = () => {};
    const ended = new Promise<TurnResult | undefined>((resolve) => {
      settle = (turn) => {
        if (turn !== undefined) begin();
        resolve(turn);
      };
    });
    const waiting: WaitingInput = { content, from, delivery, settle };
    this.#inputs.push(waiting);
    this.#bus.publish("InputQueued", { input: content, delivery, from: from.id });
    return { waiting: delivery, begun, ended, withdraw: () => this.#drop([waiting], from.id) };
  }

  /** What is to be handed to the running turn now. */
  takeSteering(turn: () => Promise<TurnResult>): readonly SteeringInput[] {
    const taken = this.#inputs.filter(({ delivery }) => delivery === "steer");
    this.#inputs = this.#inputs.filter(({ delivery }) => delivery !== "steer");
    for (const { settle } of taken) settle(turn());
    return taken.map(({ content, from }) => ({ content, from: from.id }));
  }

  takeFirst(): WaitingInput | undefined {
    return this.#inputs.shift();
  }

  /** What one client sent, when it takes that back. */
  dropFrom(client: ClientId): void {
    this.#drop(
      this.#inputs.filter(({ from }) => from.id === client),
      client,
    );
  }

  dropAll(by: string): void {
    this.#drop(this.#inputs, by);
  }

  #drop(unwanted: readonly WaitingInput[], by: string): void {
    const dropped = this.#inputs.filter((input) => unwanted.includes(input));
    if (dropped.length === 0) return;
    this.#inputs = this.#inputs.filter((input) => !dropped.includes(input));
    this.#bus.publish("InputDropped", { inputs: dropped.map(({ content }) => content), by });
    for (const { settle } of dropped) settle();
  }
}
