/**
 * Holds questions for the user until they are answered.
 *
 * 1. Every PermissionRequested is followed by exactly one PermissionResolved, even if the turn is cancelled.
 * 2. The first answer counts. A later one learns who was first.
 * 3. With a time limit, a question is denied when the time is over.
 */
import { onAbort } from "../base/abort-tree.js";
import type { Clock } from "../base/clock.js";
import type { Bus } from "../engine/bus.js";
import type { EventPayloads, PermissionDecision } from "../protocol/events.js";
import type { CallId } from "../protocol/ids.js";

export interface PromptAnswer {
  readonly decision: PermissionDecision;
  readonly decidedBy: string;
  readonly message?: string;
  /** There was no answer within this time. */
  readonly unanswered?: { readonly afterMs: number };
}

export interface AnswerLimit {
  readonly clock: Clock;
  readonly ms: number;
  /** The answer when none came in time. */
  readonly answer: PromptAnswer;
}

/** A late answer comes soon after the first one. */
const MOST_ANSWERS = 64;

export class PermissionPrompts {
  readonly #bus: Bus;
  readonly #present: () => boolean;
  readonly #limit: AnswerLimit | undefined;
  readonly #waiting = new Map<CallId, (answer: PromptAnswer) => void>();
  /** The last answers. */
  readonly #answered = new Map<CallId, PromptAnswer>();
  readonly #questions = new Map<CallId, EventPayloads["PermissionRequested"]>();

  constructor(bus: Bus, present: () => boolean, limit?: AnswerLimit) {
    this.#bus = bus;
    this.#present = present;
    this.#limit = limit;
  }

  present(): boolean {
    return this.#present();
  }

  /** Tells whether a question without an answer is denied after a time. */
  get isTimed(): boolean {
    return this.#limit !== undefined;
  }

  /** Questions that have no answer yet, oldest first. */
  get questions(): readonly EventPayloads["PermissionRequested"][] {
    return [...this.#questions.values()];
  }

  ask(asked: EventPayloads["PermissionRequested"], signal: AbortSignal): Promise<PromptAnswer> {
    const { call, tool } = asked;
    const limit = this.#limit;
    const question = { ...asked, ...(limit !== undefined && { timeout_ms: limit.ms }) };
    return new Promise((resolve) => {
      let stopListening = () => {};
      const stopTimer = limit?.clock.after(limit.ms, () => this.answer(call, limit.answer));
      this.#waiting.set(call, (answer) => {
        this.#waiting.delete(call);
        this.#questions.delete(call);
        stopListening();
        stopTimer?.();
        this.record(call, tool, answer);
        resolve(answer);
      });
      this.#questions.set(call, question);
      this.#bus.publish("PermissionRequested", question);
      stopListening = onAbort(signal, () => this.answer(call, { decision: "deny", decidedBy: "cancelled" }));
    });
  }

  /** Tells whether a yes to an open question may let something out of the workspace and its sandbox. */
  isBeyond(call: CallId): boolean {
    const question = this.#questions.get(call);
    return question !== undefined && question.contained !== true;
  }

  /** The answer that counted; undefined for a question that is open, unknown or long past. */
  answerOf(call: CallId): PromptAnswer | undefined {
    return this.#answered.get(call);
  }

  /** False if the question does not exist or is already answered. */
  answer(call: CallId, answer: PromptAnswer): boolean {
    const settle = this.#waiting.get(call);
    settle?.(answer);
    return settle !== undefined;
  }

  record(call: CallId, tool: string, answer: PromptAnswer): void {
    this.#answered.set(call, answer);
    const [oldest] = this.#answered.keys();
    if (this.#answered.size > MOST_ANSWERS && oldest !== undefined) this.#answered.delete(oldest);
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
