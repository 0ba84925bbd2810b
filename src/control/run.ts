/**
 * A run: a live engine on one session (features L9, L10, L14).
 *
 * 1. At most one turn at a time; input during a turn is refused and names who started it.
 * 2. A fault in one turn ends that turn only.
 */
import { AbortNode } from "../base/abort-tree.js";
import { formatDuration } from "../base/duration.js";
import type { Bus } from "../engine/bus.js";
import type { CancelReason } from "../engine/cancel.js";
import { runTurn, type TurnResult } from "../engine/loop.js";
import type { EnginePorts, Model, ToolRegistry } from "../engine/ports.js";
import { type StageChains, Turn } from "../engine/turn.js";
import type { Identity } from "../protocol/client.js";
import type { InputContent, Message } from "../protocol/content.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { CallId, ClientId, SessionId } from "../protocol/ids.js";
import type { PermissionDesk } from "./permission-desk.js";

export interface RunOptions {
  readonly session: SessionId;
  readonly bus: Bus;
  readonly ports: EnginePorts;
  readonly stages: StageChains;
  readonly model: Model;
  readonly desk: PermissionDesk;
  /** What was said before, when the session goes on. */
  readonly conversation?: readonly Message[];
  /** Plan mode, where the run has one (feature L16). */
  readonly plan?: PlanSwitch;
  /** What the model is told beside the input of a turn that begins now. */
  readonly inputNotice?: () => string | undefined;
  /** A turn that takes longer is stopped; reaching it is a limit, not a failure. */
  readonly turnTimeoutMs?: number;
  /** Frees what the run holds: background commands, watchers. */
  readonly dispose?: () => Promise<void> | void;
}

export interface PlanSwitch {
  enter(): Promise<void>;
  /** Why it stays on; undefined when it was left, or when the plan goes back to the model. */
  exit(request: {
    readonly approve: boolean;
    readonly client: Originator;
    readonly turn: Originator;
  }): Promise<string | undefined>;
}

/** Whose input it is. */
export interface Originator {
  readonly id: ClientId;
  readonly identity: Identity;
}

export interface TurnInput {
  readonly content: readonly InputContent[];
  readonly originator: Originator;
}

export class Run {
  readonly session: SessionId;
  readonly bus: Bus;
  readonly desk: PermissionDesk;
  readonly conversation: Message[];
  /** Takes effect with the next turn. */
  model: Model;
  readonly #options: RunOptions;
  readonly #asides = new Set<AbortNode>();
  #originator: Originator;
  #turn: { readonly abort: AbortNode; readonly startedAt: string; readonly ended: Promise<TurnResult> } | undefined;

  constructor(options: RunOptions) {
    this.session = options.session;
    this.bus = options.bus;
    this.desk = options.desk;
    this.#originator = { id: options.bus.originator, identity: "human" };
    this.model = options.model;
    this.conversation = [...(options.conversation ?? [])];
    this.#options = options;
  }

  get busy(): boolean {
    return this.#turn !== undefined;
  }

  /** Who started the turn that runs, or the last one. */
  get originator(): Originator {
    return this.#originator;
  }

  get tools(): ToolRegistry {
    return this.#options.ports.tools;
  }

  get plan(): PlanSwitch | undefined {
    return this.#options.plan;
  }

  newCall(): CallId {
    return this.#options.ports.ids.next("call");
  }

  /** Starts a turn; its end arrives as TurnEnded, and here as a promise. */
  start({ content, originator }: TurnInput): { readonly ended: Promise<TurnResult> } | { readonly refused: Failure } {
    if (this.#turn !== undefined) {
      const fields = { originator: this.bus.originator, ts: this.#turn.startedAt };
      return { refused: failure("TurnInProgress", fields) };
    }
    const { ports, stages, inputNotice } = this.#options;
    const abort = new AbortNode();
    this.#originator = { id: originator.id, identity: originator.identity };
    this.bus.originator = originator.id;
    const turn = new Turn({
      id: ports.ids.next("turn"),
      input: content,
      notice: inputNotice?.(),
      bus: this.bus,
      ports,
      model: this.model,
      abort,
      conversation: this.conversation,
    });
    // The turn is registered before its first event, so that a subscriber may cancel it from there.
    const stopTimer = this.#limitTime(abort);
    let begin: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      begin = resolve;
    })
      .then(() => runTurn(turn, stages))
      .finally(() => {
        stopTimer();
        this.#turn = undefined;
      });
    this.#turn = { abort, startedAt: new Date(ports.clock.wall()).toISOString(), ended };
    begin();
    return { ended };
  }

  /** Work beside the conversation (a command the person typed) that the same cancel reaches. */
  async aside<T>(action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const node = new AbortNode();
    this.#asides.add(node);
    try {
      return await action(node.signal);
    } finally {
      this.#asides.delete(node);
    }
  }

  /** Safe when nothing runs. With a failure it is a limit that was reached rather than somebody's wish. */
  cancel(by: string, cause?: Failure): void {
    this.#abort({ by, ...(cause !== undefined && { failure: cause }) });
  }

  /** Something the run cannot go on without has failed. */
  fail(by: string, cause: Failure): void {
    this.#abort({ by, failure: cause, outcome: "failed" });
  }

  #abort(reason: CancelReason): void {
    this.#turn?.abort.abort(reason);
    for (const node of this.#asides) node.abort(reason);
  }

  #limitTime(abort: AbortNode): () => void {
    const { turnTimeoutMs, ports } = this.#options;
    if (turnTimeoutMs === undefined) return () => {};
    const cause = failure("Timeout", { timeout: formatDuration(turnTimeoutMs) });
    return ports.clock.after(turnTimeoutMs, () => abort.abort({ by: "timeout", failure: cause }));
  }

  async close(): Promise<void> {
    this.cancel("shutdown");
    await this.#turn?.ended;
    await this.#options.dispose?.();
  }
}
