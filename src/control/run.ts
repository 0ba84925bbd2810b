/**
 * A run: a live engine on one session.
 *
 * 1. At most one turn at a time; input during a turn waits if it asks to (inbox.ts); otherwise it is refused with the originator of the turn.
 * 2. A fault in one turn ends that turn only.
 */
import { AbortNode } from "../base/abort-tree.js";
import { formatDuration } from "../base/duration.js";
import type { Bus } from "../engine/bus.js";
import type { CancelReason } from "../engine/cancel.js";
import { runTurn, type TurnResult } from "../engine/loop.js";
import type { EnginePorts, Model, ToolRegistry } from "../engine/ports.js";
import { Turn } from "../engine/turn.js";
import { type InputContent, type Message, text } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { EventRange, InputDelivery, SessionEndReason, SessionMode } from "../protocol/events.js";
import type { CallId, ClientId, SessionId } from "../protocol/ids.js";
import { Arrivals } from "./arrivals.js";
import type { Originator } from "./attached-client.js";
import { Inbox, type Waiting } from "./inbox.js";
import type { PermissionPrompts } from "./permission-prompts.js";
import type { PlanLeft, PlanWork, RunOptions, Started, TurnInput } from "./run-options.js";

export type { PlanLeft, PlanSwitch, RoutedInput, RunOptions, Started, TurnInput } from "./run-options.js";

const PLAN_WORK: PlanWork = {
  content: [text("Carry out the plan.")],
  notice: "The user approves the plan, and plan mode is off. Carry out the plan now.",
};

export class Run {
  readonly session: SessionId;
  readonly bus: Bus;
  readonly permissionPrompts: PermissionPrompts;
  /** Inputs and cancels of all clients, in the order in which they came. */
  readonly arrivals = new Arrivals();
  readonly conversation: Message[];
  /** Takes effect with the next turn. */
  model: Model;
  readonly #options: RunOptions;
  readonly #asides = new Set<AbortNode>();
  #originator: Originator;
  readonly #inbox: Inbox;
  /** The reason why it ends; undefined while it goes on. */
  #ending: SessionEndReason | undefined;
  /** The running turn has published its end. */
  #isOver = false;
  /** Says how the last turn ended. */
  #last: TurnResult | undefined;
  /** The running turn, or other exclusive work on the conversation. */
  #turn: { readonly abort: AbortNode; readonly startedAt: string; readonly ended: Promise<unknown> } | undefined;

  constructor(options: RunOptions) {
    this.session = options.session;
    this.bus = options.bus;
    this.permissionPrompts = options.permissionPrompts;
    this.#originator = { id: options.bus.originator, identity: "human" };
    this.model = options.model;
    this.conversation = [...(options.conversation ?? [])];
    this.#options = options;
    this.#inbox = new Inbox(options.bus, options.waiting);
    options.bus.subscribe(({ kind }) => {
      if (kind === "TurnEnded") this.#isOver = true;
    });
  }

  /** For the client that opened the run; the log has it too. */
  get opening(): readonly Envelope[] {
    return this.#options.opening ?? [];
  }

  /** Ids under which clients may have seen other events. */
  get replaced(): readonly EventRange[] {
    return this.#options.replaced ?? [];
  }

  /** The last event that a killed engine would leave in the log; infinite if the session is not stored. */
  get savedTo(): number {
    return this.#options.savedTo?.() ?? Number.POSITIVE_INFINITY;
  }

  /** Inputs that wait for a turn. */
  get waiting(): number {
    return this.#inbox.size;
  }

  get busy(): boolean {
    return this.#turn !== undefined;
  }

  /** The originator of the running turn, or of the last one. */
  get originator(): Originator {
    return this.#originator;
  }

  get tools(): ToolRegistry {
    return this.#options.ports.tools;
  }

  /** Tells why the mode did not change; undefined if it did. */
  async setMode(mode: SessionMode, client: Originator): Promise<string | undefined> {
    const { setMode } = this.#options;
    if (setMode === undefined) return "This run has no modes.";
    const refusal = await setMode(mode, client, this.#originator);
    if (refusal === undefined) this.#publishMode(mode, client);
    return refusal;
  }

  /** Tells why it is refused; undefined if the session plans now. */
  async enterPlan(client: Originator): Promise<string | undefined> {
    const { plan } = this.#options;
    if (plan === undefined) return "This run has no plan mode.";
    await plan.enter();
    this.#publishMode("plan", client);
    return undefined;
  }

  /** The last turn answered in plan mode, and no person has decided about its plan. */
  get hasPlan(): boolean {
    const { plan, hasPlan = false } = this.#options;
    const answered = this.#last === undefined ? hasPlan : this.#last.plan === true && this.#last.outcome === "answered";
    return answered && plan?.isOn() === true && !this.busy;
  }

  /** Without approval the plan goes back to the model: plan mode stays. */
  async exitPlan(
    client: Originator,
    { approve, mode }: { readonly approve: boolean; readonly mode?: SessionMode | undefined },
  ): Promise<PlanLeft> {
    const { plan } = this.#options;
    if (plan === undefined) return { refused: "This run has no plan mode." };
    // A client may answer at the event, a moment before the run is free.
    if (this.#isOver) await this.#turn?.ended;
    const { hasPlan } = this;
    if (approve && mode !== undefined && plan.isOn()) {
      const refusal = await this.setMode(mode, client);
      if (refusal !== undefined) return { refused: refusal };
    } else {
      const refusal = await plan.exit({ approve, client, turn: this.#originator });
      if (refusal !== undefined) return { refused: refusal };
      if (approve) this.#publishMode(plan.mode(), client);
    }
    return approve && hasPlan ? { work: PLAN_WORK } : {};
  }

  /** A session without events is not stored: a key pressed before the first prompt must not create one. */
  #publishMode(mode: SessionMode, client: Originator): void {
    const payload = { mode, by: client.id };
    if (this.bus.nextId > 1) this.bus.publish("ModeChanged", payload);
    else this.bus.publishBeforeNext({ kind: "ModeChanged", payload });
  }

  /** Drops waiting input of this client. */
  takeBack(client: ClientId): void {
    this.#inbox.dropFrom(client);
  }

  newCall(): CallId {
    return this.#options.ports.ids.next("call");
  }

  /** Starts a turn, or lets the input wait for one; its end arrives as TurnEnded, and here as a promise. */
  start(wanted: TurnInput): Started | Waiting | { readonly refused: Failure } {
    const { content, originator, delivery, ...more } = wanted;
    if (this.#turn === undefined && this.#inbox.joins(originator)) {
      const left = this.#inbox.takeNext();
      return this.#begin({ ...wanted, content: joined(left, content) }, left.length);
    }
    if (this.#turn === undefined) {
      // Older input of others gets its own turns first.
      const waiting = this.#inbox.add({ content, from: originator, delivery: "queue", more });
      this.#goOn(undefined);
      return waiting;
    }
    if (delivery !== undefined) {
      return this.#inbox.add({ content, from: originator, delivery: this.#allowed(delivery, originator) });
    }
    return { refused: this.#inProgress(this.#turn) };
  }

  /** Lets the input of an agent wait for a turn of its own: in a turn of a person it would work with the person's permissions. */
  #allowed(delivery: InputDelivery, from: Originator): InputDelivery {
    return from.identity === "agent" && this.#originator.identity === "human" ? "queue" : delivery;
  }

  /** Work on the conversation between two turns. Input waits or is refused as during a turn, and cancel stops it. */
  async between<T>(
    action: (place: { readonly signal: AbortSignal; readonly ports: EnginePorts }) => Promise<T>,
  ): Promise<T | { readonly failure: Failure }> {
    if (this.#turn !== undefined) return { failure: this.#inProgress(this.#turn) };
    const { ports } = this.#options;
    const abort = new AbortNode();
    const ended = Promise.resolve().then(() => action({ signal: abort.signal, ports }));
    const startedAt = new Date(ports.clock.wall()).toISOString();
    this.#turn = { abort, startedAt, ended: ended.catch(() => {}) };
    try {
      return await ended;
    } finally {
      const reason = abort.signal.aborted ? (abort.signal.reason as CancelReason) : undefined;
      abort.dispose();
      this.#turn = undefined;
      this.#goOn(reason);
    }
  }

  /** Resolves when all events so far are on disk, except text that is held back, or with the reason why they cannot be. */
  async saved(): Promise<Failure | undefined> {
    return this.#options.saved?.();
  }

  /** Resolves when the sender may rely on its input: it is on disk. If it cannot be, the input does not wait any longer. */
  async kept(input: Started | Waiting): Promise<Failure | undefined> {
    if (!("waiting" in input)) await input.begun;
    const problem = await this.saved();
    if (problem !== undefined && "waiting" in input) input.withdraw();
    return problem;
  }

  #inProgress({ startedAt }: { readonly startedAt: string }): Failure {
    const { originator } = this.bus;
    return failure("TurnInProgress", { originator, ts: startedAt }, { originator });
  }

  #begin({ content, originator, notice, calls, model, commandFile }: TurnInput, queued: number): Started {
    const { ports, stages, inputNotice, plan, folders } = this.#options;
    const abort = new AbortNode();
    this.#isOver = false;
    this.#originator = { id: originator.id, identity: originator.identity };
    this.bus.originator = originator.id;
    const { content: input, route } = this.#options.route?.(content) ?? { content };
    const turn = new Turn({
      id: ports.ids.next("turn"),
      input,
      bus: this.bus,
      ports,
      model: model ?? this.model,
      abort,
      conversation: this.conversation,
      queued,
      commandFile,
      calls,
      ...(route !== undefined && { route }),
      takeSteering: () => this.#inbox.takeSteering(() => ended),
    });
    // The turn is registered before its first event, so that a subscriber may cancel it from there.
    const stopTimer = this.#limitTime(abort);
    let begin: () => void = () => {};
    let published: () => void = () => {};
    const begun = new Promise<void>((resolve) => {
      published = resolve;
    });
    const ended = new Promise<void>((resolve) => {
      begin = resolve;
    })
      .then(() => inputNotice?.(input))
      .then((own) => {
        const notices = [notice, own].filter((one) => one !== undefined);
        if (notices.length > 0) turn.notice = notices.join("\n\n");
        turn.isPlanning = () => plan?.isOn() === true;
        turn.chosenMode = () => plan?.chosenMode();
        turn.folders = [...(folders?.() ?? [])];
        const result = runTurn(turn, stages);
        published();
        return result;
      })
      .then((result) => {
        this.#last = result;
        return result;
      })
      .finally(() => {
        published();
        stopTimer();
        this.#turn = undefined;
        this.#goOn(turn.cancelReason);
      });
    this.#turn = { abort, startedAt: new Date(ports.clock.wall()).toISOString(), ended };
    begin();
    return { begun, ended };
  }

  /** After a turn: the queued input is next, unless a client asked to stop everything. */
  #goOn(reason: CancelReason | undefined): void {
    // Who ends the session wants no more of it. A program that ends keeps what it has accepted, as a kill would.
    if (this.#ending === "binary-shutdown") this.#inbox.leaveAll();
    else if (this.#ending !== undefined) this.#inbox.dropAll("shutdown");
    else if (reason !== undefined && reason.failure === undefined) this.#inbox.dropAll(reason.by);
    const taken = this.#inbox.takeNext();
    const next = taken.at(-1);
    if (next === undefined) return;
    next.settle(this.#begin({ content: joined(taken), originator: next.from, ...next.more }, taken.length).ended);
  }

  /** Work beside the conversation (a command that the user typed), which cancel also stops. */
  async aside<T>(action: (signal: AbortSignal, ports: EnginePorts) => Promise<T>): Promise<T> {
    const node = new AbortNode();
    this.#asides.add(node);
    try {
      return await action(node.signal, this.#options.ports);
    } finally {
      this.#asides.delete(node);
    }
  }

  /** Safe when nothing runs. With a failure, a limit was reached; without one, a client asked for it. */
  cancel(by: string, cause?: Failure): void {
    this.#abort({ by, ...(cause !== undefined && { failure: cause }) });
  }

  /** Something that the run depends on has failed. */
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

  /** A run without a turn is not in the log. */
  async close(reason: SessionEndReason = "binary-shutdown"): Promise<void> {
    if (this.#ending !== undefined) return;
    this.#ending = reason;
    this.cancel("shutdown");
    await this.#turn?.ended;
    if (this.#last !== undefined) {
      const { failure: cause } = this.#last;
      const broken = cause?.reason === "Internal" || cause?.reason === "SessionNotSaved";
      this.bus.publish("SessionEnded", { reason: broken ? "error" : reason });
    }
    await this.#options.dispose?.();
  }
}

function joined(
  inputs: readonly { readonly content: readonly InputContent[] }[],
  last: readonly InputContent[] = [],
): readonly InputContent[] {
  return [...inputs.flatMap(({ content }) => content), ...last];
}
