/**
 * The questions of a subagent.
 *
 * 1. They are in its own log, and go to the clients of the session that started it, which see who asks.
 * 2. The first answer counts in both.
 * 3. The clients get one such question at a time: a line client can show only one.
 */
import { PermissionPrompts, type PromptAnswer } from "../../control/permission-prompts.js";
import type { Bus } from "../../engine/bus.js";
import type { EventPayloads, SubagentName } from "../../protocol/events.js";

export class SubagentPrompts extends PermissionPrompts {
  readonly #name: SubagentName;
  readonly #outer: PermissionPrompts;

  constructor(bus: Bus, { name, outer }: { readonly name: SubagentName; readonly outer: PermissionPrompts }) {
    super(bus, () => outer.present());
    this.#name = name;
    this.#outer = outer;
  }

  override async ask(asked: EventPayloads["PermissionRequested"], signal: AbortSignal): Promise<PromptAnswer> {
    const { call } = asked;
    const own = super.ask(asked, signal);
    const before = lastAsked.get(this.#outer) ?? Promise.resolve();
    lastAsked.set(
      this.#outer,
      before.then(() => this.#askAbove(asked, signal)),
    );
    const answer = await own;
    this.#outer.answer(call, answer);
    return answer;
  }

  async #askAbove(asked: EventPayloads["PermissionRequested"], signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const summary = `subagent ${this.#name.type}: ${asked.summary}`;
    this.answer(asked.call, await this.#outer.ask({ ...asked, summary, subagent: this.#name }, signal));
  }
}

/** The last question of a subagent that each session's clients got. */
const lastAsked = new WeakMap<PermissionPrompts, Promise<void>>();
