/**
 * Where questions for a person wait for their answer.
 *
 * 1. Every PermissionRequested is followed by exactly one PermissionResolved, also when the turn is cancelled meanwhile.
 * 2. The first answer counts; later ones are ignored.
 */
import { onAbort } from "../base/abort-tree.js";
import type { Bus } from "../engine/bus.js";
import type { EventPayloads, PermissionDecision } from "../protocol/events.js";
import type { CallId } from "../protocol/ids.js";

export interface DeskAnswer {
  readonly decision: PermissionDecision;
  readonly decidedBy: string;
  readonly message?: string;
}

export class PermissionDesk {
  readonly #bus: Bus;
  readonly #present: () => boolean;
  readonly #waiting = new Map<CallId, (answer: DeskAnswer) => void>();

  constructor(bus: Bus, present: () => boolean) {
    this.#bus = bus;
    this.#present = present;
  }

  present(): boolean {
    return this.#present();
  }

  ask(question: EventPayloads["PermissionRequested"], signal: AbortSignal): Promise<DeskAnswer> {
    const { call, tool } = question;
    return new Promise((resolve) => {
      let stopListening = () => {};
      this.#waiting.set(call, (answer) => {
        this.#waiting.delete(call);
        stopListening();
        this.note(call, tool, answer);
        resolve(answer);
      });
      this.#bus.publish("PermissionRequested", question);
      stopListening = onAbort(signal, () => this.answer(call, { decision: "deny", decidedBy: "cancelled" }));
    });
  }

  /** False when there is no such question (any more). */
  answer(call: CallId, answer: DeskAnswer): boolean {
    const settle = this.#waiting.get(call);
    settle?.(answer);
    return settle !== undefined;
  }

  note(call: CallId, tool: string, answer: DeskAnswer): void {
    const { decision, decidedBy, message } = answer;
    this.#bus.publish("PermissionResolved", {
      call,
      tool,
      decision,
      decided_by: decidedBy,
      ...(message !== undefined && { message }),
    });
  }
}
