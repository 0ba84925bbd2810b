/**
 * The moments of a session at which native code can take part without replacing a stage: memory, retrieval, approvals.
 * `lifecyclePart` makes a part of it, for `createEngine({ parts })` and for plugins.
 *
 * 1. Code that throws is reported once for each moment, and the turn continues without it. Only a review that throws has an effect:
 *    its call does not run.
 * 2. Added text is a message of the conversation and in the log, so the prompt before it never changes and a resumed session has it.
 * 3. A turn waits for functions that can change it, not for observers. The end of the session waits for both.
 */

import type { ToolLink, ToolOutcome } from "../../engine/ports.js";
import type { HookResult, NamedHook, Stage, Turn } from "../../engine/turn.js";
import { type AddedContext, addContext } from "../../feature/add-context.js";
import type { ApprovalGate, CompactionWatcher, PartContext, SessionPart } from "../../feature/part.js";
import { type Message, plainText, text } from "../../protocol/content.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { CallId, SessionId, TurnId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";

export interface Lifecycle {
  /** Small letters, digits and hyphens; it names the hooks and the source of added text. */
  readonly name: string;
  /** The input is not in the conversation yet. Here you can queue a search, add text to the input, or stop the turn. */
  beforeTurn?(turn: LifecycleTurn): Maybe<BeforeTurn>;
  /** Before each model call: text that the model gets from now on. */
  beforeInference?(
    inference: LifecycleTurn & { readonly iteration: number; readonly messages: readonly Message[] },
  ): Maybe<string>;
  /** Decides about calls after the permission rules; see `chain/approval-gate.ts` for what counts. */
  readonly reviewCall?: ApprovalGate["review"];
  /** A call has its result. */
  onToolEvidence?(evidence: ToolEvidence): unknown;
  /** A summary is about to replace older messages: extract facts from them, say what to keep, or refuse. */
  readonly beforeCompaction?: CompactionWatcher["before"];
  readonly afterCompaction?: CompactionWatcher["after"];
  /** The turn has ended and is saved; a good moment to queue work on it. */
  afterTurn?(ended: EndedTurn): unknown;
  close?(): unknown;
}

type Maybe<T> = Promise<T | undefined> | T | undefined;

export interface LifecycleTurn {
  readonly session: SessionId;
  readonly turn: TurnId;
  /** The text of the input. */
  readonly input: string;
  readonly signal: AbortSignal;
}

export type BeforeTurn =
  | { readonly context: string }
  /** Ends the turn, for this reason. */
  | { readonly stop: string };

export interface ToolEvidence {
  readonly session: SessionId;
  readonly turn: TurnId | undefined;
  readonly call: CallId;
  readonly tool: string;
  readonly args: JsonObject;
  readonly outcome: ToolOutcome;
}

export type EndedTurn = EventPayloads["TurnEnded"] & {
  readonly session: SessionId;
  readonly input: string;
  /** The whole conversation. */
  readonly messages: readonly Message[];
};

export function lifecyclePart(
  lifecycle: Lifecycle,
  context: Pick<PartContext, "session" | "bus" | "log">,
): SessionPart {
  return new RunningLifecycle(lifecycle, context).part;
}

class RunningLifecycle {
  readonly #lifecycle: Lifecycle;
  readonly #context: Pick<PartContext, "session" | "bus" | "log">;
  readonly #failed = new Set<string>();
  readonly #pending = new Set<Promise<void>>();
  #added: AddedContext[] = [];
  #turn: Turn | undefined;

  constructor(lifecycle: Lifecycle, context: Pick<PartContext, "session" | "bus" | "log">) {
    this.#lifecycle = lifecycle;
    this.#context = context;
  }

  get part(): SessionPart {
    const { name, reviewCall, onToolEvidence, close } = this.#lifecycle;
    return {
      name,
      hooks: this.#stages(),
      ...(onToolEvidence && { links: { tool: [this.#observer()] } }),
      ...(reviewCall && { gates: [{ review: reviewCall }] }),
      compactions: [this.#compactions()],
      subscribers: [
        { name: `70-${name}`, run: ({ kind, payload }) => void (kind === "TurnEnded" && this.#ended(payload)) },
      ],
      close: async () => {
        await Promise.all(this.#pending);
        await close?.call(this.#lifecycle);
      },
    };
  }

  #stages(): Partial<Record<Stage, readonly NamedHook[]>> {
    const { name } = this.#lifecycle;
    return {
      start: [
        { name: `09-${name}`, run: (turn) => this.#begin(turn) },
        { name: `13-${name}`, run: (turn) => this.#addContext(turn) },
      ],
      assemble: [{ name: `05-${name}`, run: (turn) => this.#infer(turn) }],
    };
  }

  async #begin(turn: Turn): Promise<HookResult> {
    this.#turn = turn;
    const answer = await this.#try("beforeTurn", () => this.#lifecycle.beforeTurn?.(this.#viewOf(turn)));
    if (answer === undefined) return undefined;
    if ("stop" in answer) return { stop: answer.stop };
    this.#added.push({ source: this.#lifecycle.name, text: answer.context });
    return undefined;
  }

  #addContext(turn: Turn): undefined {
    for (const added of this.#added.splice(0)) addContext(turn, added);
  }

  async #infer(turn: Turn): Promise<undefined> {
    const inference = { ...this.#viewOf(turn), iteration: turn.iterations + 1, messages: turn.conversation };
    const found = await this.#try("beforeInference", () => this.#lifecycle.beforeInference?.(inference));
    if (found !== undefined) addContext(turn, { source: this.#lifecycle.name, text: found });
  }

  #observer(): ToolLink {
    return {
      name: `14-${this.#lifecycle.name}`,
      run: async (call, context, next) => {
        const { session } = this.#context;
        const about = {
          session,
          turn: context.turn?.id,
          call: call.call,
          tool: context.definition.name,
          args: call.args,
        };
        const observe = (outcome: ToolOutcome) =>
          this.#later("onToolEvidence", () => this.#lifecycle.onToolEvidence?.({ ...about, outcome }));
        try {
          const outcome = await next(call);
          observe(outcome);
          return outcome;
        } catch (error) {
          observe({ status: "error", content: [text(error instanceof Error ? error.message : String(error))] });
          throw error;
        }
      },
    };
  }

  #compactions(): CompactionWatcher {
    return {
      before: (started) => this.#try("beforeCompaction", () => this.#lifecycle.beforeCompaction?.(started)),
      after: async (done) => {
        await this.#try("afterCompaction", () => this.#lifecycle.afterCompaction?.(done));
      },
    };
  }

  #ended(payload: EventPayloads["TurnEnded"]): void {
    const turn = this.#turn;
    if (turn?.id !== payload.turn) return;
    const { session } = this.#context;
    const ended = { ...payload, session, input: plainText(turn.input), messages: [...turn.conversation] };
    this.#later("afterTurn", () => this.#lifecycle.afterTurn?.(ended));
  }

  #viewOf({ id, input, signal }: Turn): LifecycleTurn {
    return { session: this.#context.session, turn: id, input: plainText(input), signal };
  }

  #later(moment: string, act: () => unknown): void {
    const running = this.#try(moment, act).then(() => void this.#pending.delete(running));
    this.#pending.add(running);
  }

  async #try<T>(moment: string, act: () => Maybe<T>): Promise<T | undefined> {
    try {
      return await act();
    } catch (error) {
      this.#report(moment, error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  #report(moment: string, problem: string): void {
    const { bus, log } = this.#context;
    const { name } = this.#lifecycle;
    log("warn", "lifecycle", "an extension failed", { name, moment, problem });
    if (this.#failed.has(moment)) return;
    this.#failed.add(moment);
    bus.publish("Notice", { level: "warning", message: `${name} failed in ${moment}: ${problem}` });
  }
}
