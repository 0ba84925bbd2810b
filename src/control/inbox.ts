/**
 * Input that arrived during a turn.
 *
 * 1. Oldest first: steering input reaches the turn in its order, and the rest becomes turns of its own after the turn, in the order
 *    it arrived.
 * 2. An event records when input starts to wait and when it stops: the log alone shows what waits.
 * 3. The sender gets the outcome of the turn that took the input, or learns that no turn of this run took it.
 * 4. Input that an earlier run left becomes one turn with what follows it, as long as people sent all of it, or agents: a turn has the
 *    permissions of its sender.
 */
import type { Bus } from "../engine/bus.js";
import type { TurnResult } from "../engine/loop.js";
import type { SteeringInput } from "../engine/turn.js";
import type { InputContent } from "../protocol/content.js";
import type { EventPayloads, InputDelivery } from "../protocol/events.js";
import type { ClientId } from "../protocol/ids.js";
import type { Originator } from "./attached-client.js";
import type { TurnInput } from "./run-options.js";

export interface WaitingInput {
  readonly content: readonly InputContent[];
  readonly from: Originator;
  readonly delivery: InputDelivery;
  /** The turn that took it; absent if it was dropped, or left to the next run. */
  readonly settle: (turn?: Promise<TurnResult>) => void;
  /** An earlier run left it. */
  readonly isLeft?: true;
  /** Holds what its turn gets besides the content. */
  readonly more?: TurnMore;
}

export type TurnMore = Pick<TurnInput, "notice" | "calls" | "model" | "commandFile">;

/** Input that waited when an earlier run stopped. */
export type LeftInput = EventPayloads["InputQueued"];

export interface Waiting {
  readonly waiting: InputDelivery;
  /** Resolves when a turn starts with it; never if none of this run does. */
  readonly begun: Promise<void>;
  /** The outcome of that turn; undefined if there is none. */
  readonly ended: Promise<TurnResult | undefined>;
  /** Drops it, unless a turn has taken it. */
  withdraw(): void;
}

export class Inbox {
  readonly #bus: Bus;
  #inputs: WaitingInput[] = [];

  constructor(bus: Bus, left: readonly LeftInput[] = []) {
    this.#bus = bus;
    this.#inputs = left.map(({ input, from, identity = "agent" }) => {
      return { content: input, from: { id: from, identity }, delivery: "queue", settle: () => {}, isLeft: true };
    });
  }

  get size(): number {
    return this.#inputs.length;
  }

  add(input: Pick<WaitingInput, "content" | "from" | "delivery" | "more">): Waiting {
    const { content, from, delivery, more } = input;
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
    const waiting: WaitingInput = { content, from, delivery, settle, ...(more && { more }) };
    this.#inputs.push(waiting);
    this.#bus.publish("InputQueued", { input: content, delivery, from: from.id, identity: from.identity });
    return { waiting: delivery, begun, ended, withdraw: () => this.#drop([waiting], from.id) };
  }

  /** Input for the running turn. */
  takeSteering(turn: () => Promise<TurnResult>): readonly SteeringInput[] {
    const taken = this.#inputs.filter(({ delivery }) => delivery === "steer");
    this.#inputs = this.#inputs.filter(({ delivery }) => delivery !== "steer");
    for (const { settle } of taken) settle(turn());
    return taken.map(({ content, from }) => ({ content, from: from.id }));
  }

  /** Tells whether input of this sender may be part of one turn with all that waits. */
  joins({ identity }: Originator): boolean {
    return this.#inputs.every(({ isLeft, from }) => isLeft === true && from.identity === identity);
  }

  /** Tells what one turn takes: the oldest input, with those that an earlier run left before it. */
  takeNext(): readonly WaitingInput[] {
    const identity = this.#inputs[0]?.from.identity;
    const fits = this.#inputs.findIndex(({ isLeft, from }) => isLeft !== true || from.identity !== identity);
    const end = fits === -1 ? this.#inputs.length : this.#inputs[fits]?.from.identity === identity ? fits + 1 : fits;
    return this.#inputs.splice(0, end);
  }

  /** Drops the input of one client. */
  dropFrom(client: ClientId): void {
    this.#drop(
      this.#inputs.filter(({ from }) => from.id === client),
      client,
    );
  }

  dropAll(by: string): void {
    this.#drop(this.#inputs, by);
  }

  /** Leaves it to the next run: the log says that it waits. Its senders learn that no turn of this run takes it. */
  leaveAll(): void {
    for (const { settle } of this.#inputs.splice(0)) settle();
  }

  #drop(unwanted: readonly WaitingInput[], by: string): void {
    const dropped = this.#inputs.filter((input) => unwanted.includes(input));
    if (dropped.length === 0) return;
    this.#inputs = this.#inputs.filter((input) => !dropped.includes(input));
    this.#bus.publish("InputDropped", { inputs: dropped.map(({ content }) => content), by });
    for (const { settle } of dropped) settle();
  }
}
