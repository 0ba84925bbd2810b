/**
 * One session of the editor.
 *
 * 1. A prompt is answered when its turn has ended and all its updates are sent.
 * 2. After a cancel every waiting prompt is answered with `cancelled`, also one whose turn had not started.
 */

import type { ContentBlock, PromptResponse, SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import { safeText } from "../../../base/terminal-text.js";
import type { EngineClient } from "../../../protocol/client.js";
import type { InputContent } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import { type Failure, failure } from "../../../protocol/errors.js";
import type { EventPayloads } from "../../../protocol/events.js";
import type { SessionId } from "../../../protocol/ids.js";
import { readSlashAnswer, type SlashLine, slashRequest } from "../../../protocol/slash-command.js";
import { addCost, type Cost } from "../../../protocol/usage.js";
import type { ElicitInEditor } from "./elicitations.js";
import { requestError } from "./errors.js";
import { answer, EventUpdates } from "./event-updates.js";
import { type AskEditor, PermissionRequests } from "./permission-requests.js";
import { commandOf, type Delimit, inputOf } from "./prompt-content.js";
import type { News } from "./session-news.js";
import { type ReadInEditor, withUnsaved } from "./unsaved-text.js";
import { UpdateQueue } from "./update-queue.js";

export interface AcpSessionOptions {
  readonly client: EngineClient;
  readonly session: SessionId;
  readonly cwd: string;
  readonly update: (update: SessionUpdate) => Promise<void>;
  readonly ask: AskEditor;
  /** Undefined if the editor shows no forms. */
  readonly elicit?: ElicitInEditor | undefined;
  readonly delimit: Delimit;
  /** Reads a file as the editor has it; undefined if the editor does not offer that. */
  readonly readFile?: ReadInEditor | undefined;
  /** Something that the editor can set or list has changed. */
  readonly changed: (what: News) => void;
}

type TurnEnd = EventPayloads["TurnEnded"];

/** A prompt that waits for the end of its turn. */
interface Waiting {
  content: readonly InputContent[];
  isCancelled: boolean;
  /** A turn has taken it, or it needs none. */
  hasTurn: boolean;
  end(end: TurnEnd | "cancelled"): void;
}

export class AcpSession {
  readonly #options: AcpSessionOptions;
  readonly #queue: UpdateQueue;
  readonly #updates: EventUpdates;
  readonly #permissions: PermissionRequests;
  readonly #prompts: Waiting[] = [];
  /** Prompts begin one after the other, so that turns take them in their order. */
  #beginning: Promise<unknown> = Promise.resolve();
  #cost: Cost | undefined;
  /** Tokens that the model can read; asked again when the model changes. */
  contextWindow: number | undefined;

  constructor(options: AcpSessionOptions) {
    const { client, cwd, update } = options;
    this.#options = options;
    this.#queue = new UpdateQueue(update);
    this.#updates = new EventUpdates(cwd, client.id);
    this.#permissions = new PermissionRequests(options);
  }

  get cwd(): string {
    return this.#options.cwd;
  }

  show(updates: readonly SessionUpdate[]): void {
    this.#queue.push(updates);
  }

  shown(): Promise<void> {
    return this.#queue.sent();
  }

  onEvent(event: Envelope): void {
    this.show(this.#updates.of(event));
    switch (event.kind) {
      case "PermissionRequested":
        void this.#ask(event.payload);
        return;
      case "PermissionResolved":
        this.#permissions.withdraw(event.payload.call);
        return;
      case "CostIncremented":
        this.#showUsage(event.payload);
        return;
      case "ModeChanged":
        this.#options.changed("options");
        return;
      case "SkillRegistryChanged":
        this.#options.changed("commands");
        return;
      case "TurnStarted":
        if (event.originator === this.#options.client.id) this.#take();
        return;
      case "InputDropped":
        this.#drop(event.payload.inputs);
        return;
      case "TurnEnded":
        this.#options.changed("title");
        if (event.originator === this.#options.client.id)
          this.#prompts.find(({ hasTurn }) => hasTurn)?.end(event.payload);
        return;
      case "SessionEnded":
        for (const waiting of [...this.#prompts]) waiting.end("cancelled");
        return;
    }
  }

  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    const command = commandOf(blocks);
    const content = command === undefined ? inputOf(blocks, this.#options.delimit) : [];
    const { waiting, ended } = this.#wait(content);
    const cancel = () => this.cancel();
    signal.addEventListener("abort", cancel);
    try {
      const begun = await this.#inTurn(() =>
        command === undefined ? this.#sendWithUnsaved(blocks, waiting) : this.#run(command, waiting),
      );
      if (begun === "answered") return { stopReason: waiting.isCancelled ? "cancelled" : "end_turn" };
      // The cancel came before there was a turn.
      if (waiting.isCancelled) this.#cancelTurn();
      const end = await ended;
      if (end === "cancelled" || waiting.isCancelled) return { stopReason: "cancelled" };
      return { stopReason: this.#conclude(end) };
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#prompts.splice(this.#prompts.indexOf(waiting), 1);
      await this.shown();
    }
  }

  cancel(): void {
    for (const waiting of this.#prompts) waiting.isCancelled = true;
    this.#cancelTurn();
  }

  #cancelTurn(): void {
    const { client, session } = this.#options;
    void client.send("CancelTurn", {}, session);
  }

  #wait(content: readonly InputContent[]): {
    readonly waiting: Waiting;
    readonly ended: Promise<TurnEnd | "cancelled">;
  } {
    let end: Waiting["end"] = () => {};
    const ended = new Promise<TurnEnd | "cancelled">((resolve) => {
      end = resolve;
    });
    const waiting: Waiting = { content, isCancelled: false, hasTurn: false, end };
    this.#prompts.push(waiting);
    return { waiting, ended };
  }

  #inTurn<T>(begin: () => Promise<T>): Promise<T> {
    const begun = this.#beginning.then(begin);
    this.#beginning = begun.catch(() => {});
    return begun;
  }

  #drop(inputs: readonly (readonly InputContent[])[]): void {
    const dropped = new Set(inputs.map((input) => JSON.stringify(input)));
    for (const { content, hasTurn, end } of this.#prompts) {
      if (!hasTurn && dropped.has(JSON.stringify(content))) end("cancelled");
    }
  }

  /** Turns take the prompts in their order. */
  #take(): void {
    const next = this.#prompts.find(({ hasTurn }) => !hasTurn);
    if (next !== undefined) next.hasTurn = true;
  }

  async #sendWithUnsaved(blocks: readonly ContentBlock[], waiting: Waiting): Promise<"begun"> {
    const { readFile, delimit, cwd } = this.#options;
    if (readFile !== undefined && blocks.some(({ type }) => type === "resource_link")) {
      waiting.content = inputOf(await withUnsaved(blocks, { root: cwd, read: readFile }), delimit);
    }
    return this.#send(waiting.content);
  }

  /** Input waits while an earlier turn ends: the editor may send the next prompt at once. */
  async #send(content: readonly InputContent[]): Promise<"begun"> {
    const { client, session } = this.#options;
    const reply = await client.send("SendInput", { content, queue: true }, session);
    if (!reply.ok) throw requestError(reply.failure);
    return "begun";
  }

  async #run({ name, rest }: SlashLine, waiting: Waiting): Promise<"begun" | "answered"> {
    const { client, session, changed } = this.#options;
    const reply = await client.send("CustomCommand", slashRequest(name, rest), session);
    if (!reply.ok) {
      waiting.hasTurn = true;
      this.show(answer(safeText(reply.failure.message)));
      return "answered";
    }
    const { text, isTurn, follow } = readSlashAnswer(reply.value);
    if (isTurn) return "begun";
    waiting.hasTurn = true;
    const words = follow === undefined ? text : `/${name} works only in Oxbow's own terminal client.`;
    this.show(answer(`\`\`\`\n${safeText(words)}\n\`\`\``));
    changed("options");
    return "answered";
  }

  async #ask(question: EventPayloads["PermissionRequested"]): Promise<void> {
    // The editor must know the call before it is asked about it.
    await this.shown();
    await this.#permissions.ask(question);
  }

  #showUsage({ usage, cost }: EventPayloads["CostIncremented"]): void {
    if (cost !== undefined) this.#cost = this.#cost === undefined ? cost : addCost(this.#cost, cost);
    if (this.contextWindow === undefined) return;
    const used = usage.input + usage.cache_read + usage.cache_write + usage.output;
    const spent = this.#cost && { cost: { amount: this.#cost.usd, currency: "USD" } };
    this.show([{ sessionUpdate: "usage_update", used, size: Math.max(used, this.contextWindow), ...spent }]);
  }

  #conclude({ outcome, truncated, failure: cause }: TurnEnd): StopReason {
    switch (outcome) {
      case "cancelled":
        return "cancelled";
      case "failed":
        return this.#failed(cause ?? failure("Internal", { detail: "the turn failed" }));
      case "limit":
        this.show(answer(`\n\n${safeText(cause?.message ?? "The turn reached a limit.")}`));
        return "max_turn_requests";
      case "stopped":
        this.show(answer(`\n\n${safeText(cause?.message ?? "A hook stopped the turn.")}`));
        return "refusal";
      default:
        return truncated ? "max_tokens" : "end_turn";
    }
  }

  #failed(cause: Failure): StopReason {
    if (cause.reason !== "ContentRefused") throw requestError(cause);
    this.show(answer(`\n\n${safeText(cause.message)}`));
    return "refusal";
  }
}
