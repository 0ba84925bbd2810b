/** Decides which reply comes next (the invariants of script.ts). Finding a reply does not consume it, so that a failed expectation fails again. */
import { type Facts, holds } from "./condition.js";
import type { Reply, Script } from "./script/script.js";

export interface NumberedReply {
  /** From 1, in the order of the script. */
  readonly number: number;
  readonly reply: Reply;
}

export class ReplyQueue {
  readonly #script: Script;
  #left: number[];

  constructor(script: Script) {
    this.#script = script;
    this.#left = allOf(script);
  }

  /** The number of replies that were not used as often as they say. Replies for any number of calls do not count. */
  get unused(): number {
    return this.#left.filter((left) => left > 0 && Number.isFinite(left)).length;
  }

  next(facts: Facts): NumberedReply | undefined {
    const found = this.#find(facts);
    if (found !== undefined || this.#script.atEnd !== "loop") return found;
    this.#left = allOf(this.#script);
    return this.#find(facts);
  }

  use({ number }: NumberedReply): void {
    this.#left[number - 1] = (this.#left[number - 1] ?? 0) - 1;
  }

  #find(facts: Facts): NumberedReply | undefined {
    const open = this.#script.replies.flatMap((reply, i) =>
      (this.#left[i] ?? 0) > 0 ? [{ number: i + 1, reply }] : [],
    );
    const conditional = open.find(({ reply }) => reply.when?.every((condition) => holds(condition, facts)));
    return conditional ?? open.find(({ reply }) => reply.when === undefined);
  }
}

function allOf(script: Script): number[] {
  return script.replies.map((reply) => reply.times ?? 1);
}
