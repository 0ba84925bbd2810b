/**
 * Runs the tool calls of one assistant message.
 *
 * 1. Every call offered gets exactly one ToolCallStarted and one ToolResult, in the model's order, in every case.
 * 2. Consecutive safe calls run in parallel; any other call runs alone, after all earlier and before all later ones.
 * 3. Only safe calls at the beginning may start while the answer still streams.
 * 4. A failing tool is a result, never an exception. Only a TurnFailure from a link ends the turn, after the results.
 */
import { AbortNode } from "../base/abort-tree.js";
import { groupDigits } from "../base/group-digits.js";
import { MOST_ARGUMENT_LEVELS, nestingOf } from "../base/json-nesting.js";
import { originOf, withOrigin } from "../base/message-origin.js";
import type { ToolResultBlock, ToolUseBlock } from "../protocol/content.js";
import { ownText, plainText, text } from "../protocol/content.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { JsonObject } from "../protocol/json.js";
import type { Bus } from "./bus.js";
import { ABANDONED, TurnFailure, unlessAbandoned } from "./cancel.js";
import { compose } from "./compose.js";
import type { EnginePorts, Tool, ToolLinkContext, ToolOutcome } from "./ports.js";
import { type ReadCall, readCall, unknownTool } from "./read-call.js";
import type { Timing } from "./timing.js";
import type { Turn } from "./turn.js";

/** The time that a cancelled tool has to stop: Ctrl-C ends the program within two seconds. */
const STOP_GRACE_MS = 1300;

/** The number of times that the same call may fail in the same way before the turn ends. The last time, the result says so. */
const MOST_REPEATS = 3;
/** The number of times that it may read the same; the result says so from `MOST_REPEATS` on. */
const MOST_READINGS = 10;

interface Entry {
  block: ToolUseBlock;
  readonly tool: Tool | undefined;
  readonly safe: boolean;
  /** Notes for the model about its call. */
  notes: readonly string[];
  /** The reason why it does not run. */
  refused: string | undefined;
  /** A hook answered the call, so it does not run. */
  given?: ToolOutcome;
  running?: Promise<void>;
  outcome?: ToolOutcome;
}

export interface DispatchResult {
  readonly results: readonly ToolResultBlock[];
  readonly failure: Failure | undefined;
}

export class Dispatch {
  readonly #turn: Turn;
  readonly #ports: EnginePorts;
  readonly #bus: Bus;
  readonly #timing: Timing;
  readonly #abort: AbortNode;
  readonly #signal: AbortSignal;
  readonly #entries: Entry[] = [];
  #announced = 0;
  #reported = 0;
  #failure: Failure | undefined;

  constructor(turn: Turn) {
    this.#turn = turn;
    this.#ports = turn.ports;
    this.#bus = turn.bus;
    this.#timing = turn.timing;
    this.#abort = new AbortNode(turn.signal);
    this.#signal = this.#abort.signal;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** The number of calls with a published ToolCallStarted. */
  get announced(): number {
    return this.#announced;
  }

  /** Takes the next call of the message and starts it at once if that is safe. */
  offer(block: ToolUseBlock, { notes, refused }: Pick<ReadCall, "notes" | "refused"> = { notes: [] }): void {
    const tool = this.#ports.tools.find(block.tool);
    const safe = tool?.concurrencySafe === true && block.malformed === undefined && refused === undefined;
    const entry: Entry = { block, tool, safe, notes, refused };
    const nothingBefore = this.#entries.every((earlier) => earlier.running !== undefined);
    this.#entries.push(entry);
    const early =
      nothingBefore &&
      safe &&
      tool !== undefined &&
      !tool.mutating &&
      this.#ports.toolExecution === "batched" &&
      !this.#signal.aborted &&
      this.#ports.mayStartEarly(block, tool);
    if (early) this.#start(entry);
  }

  /** The calls that neither run nor have an answer, as they would run. */
  get open(): readonly ToolUseBlock[] {
    return this.#entries.filter((entry) => isOpen(entry)).map(({ block }) => block);
  }

  /** Answers an open call without running it. */
  give(call: string, result: ToolOutcome): void {
    const entry = this.#findOpen(call);
    if (entry !== undefined) entry.given = result;
  }

  /** Changes the arguments of an open call; they are checked like those of the model. */
  change(call: string, args: JsonObject): void {
    const entry = this.#findOpen(call);
    if (entry === undefined) return;
    const read = readCall(this.#ports.tools, { tool: entry.block.tool, args });
    // Another tool than the one that the hook saw would be another call.
    entry.refused =
      read.tool === entry.block.tool ? read.refused : "A hook turned it into a call of another tool; nothing was run.";
    entry.notes = read.notes;
    entry.block = { ...entry.block, args: read.args };
    this.#rewrite(entry.block);
  }

  /** The conversation shows the call as it ran, like the log. */
  #rewrite(block: ToolUseBlock): void {
    const { conversation } = this.#turn;
    const at = conversation.findLastIndex(({ role }) => role === "assistant");
    const message = conversation[at];
    if (message?.role !== "assistant") return;
    const content = message.content.map((each) =>
      each.type === "tool_use" && each.call === block.call ? block : each,
    );
    const origin = originOf(message);
    const changed = { ...message, content };
    conversation[at] = origin === undefined ? changed : withOrigin(changed, origin);
  }

  #findOpen(call: string): Entry | undefined {
    return this.#entries.find((entry) => entry.block.call === call && isOpen(entry));
  }

  /** Stops running calls; the others will not start. */
  abandon(): void {
    this.#abort.abort(undefined);
  }

  /** Runs the calls that have not started and waits for all. */
  async finish(): Promise<DispatchResult> {
    if (this.#ports.toolExecution === "sequential") await this.#runInOrder();
    else await this.#runInBatches();
    this.#abort.dispose();
    return { results: this.#entries.map(toResultBlock), failure: this.#failure };
  }

  async #runInBatches(): Promise<void> {
    for (let from = 0; from < this.#entries.length; ) {
      let to = from + 1;
      if (this.#entries[from]?.safe) while (this.#entries[to]?.safe) to++;
      await this.#runTogether(this.#entries.slice(from, to));
      from = to;
    }
  }

  /** In order, and nothing after the first call that did not succeed. */
  async #runInOrder(): Promise<void> {
    let failed: string | undefined;
    for (const entry of this.#entries) {
      if (failed !== undefined) {
        this.#giveOutcome(entry, outcome("skipped", `Not run: the call to ${failed} before it did not succeed.`));
        continue;
      }
      await this.#runTogether([entry]);
      if (entry.outcome?.status !== "ok") failed = entry.block.tool;
    }
  }

  async #runTogether(batch: readonly Entry[]): Promise<void> {
    for (const entry of batch) {
      if (entry.running !== undefined) continue;
      if (this.#signal.aborted) this.#giveOutcome(entry, outcome("cancelled", "Cancelled before it started."));
      else if (this.#failure !== undefined)
        this.#giveOutcome(entry, outcome("skipped", "Not run: the turn has ended."));
      else if (entry.given !== undefined) this.#giveOutcome(entry, entry.given);
      else this.#start(entry);
    }
    await Promise.all(batch.map((entry) => entry.running));
  }

  #start(entry: Entry): void {
    this.#announce(entry);
    entry.running = this.#execute(entry).then((result) => {
      entry.outcome = result;
      this.#report();
    });
  }

  /** Gives a call its outcome without running it. */
  #giveOutcome(entry: Entry, result: ToolOutcome): void {
    this.#announce(entry);
    entry.running = Promise.resolve();
    entry.outcome = result;
    this.#report();
  }

  #announce(entry: Entry): void {
    this.#announced++;
    const { call, tool, args } = entry.block;
    const kind = entry.tool?.kind;
    this.#bus.publish("ToolCallStarted", { call, tool, ...(kind !== undefined && { tool_kind: kind }), args });
  }

  /** Publishes the results that are next in the model's order. */
  #report(): void {
    while (this.#reported < this.#announced) {
      const entry = this.#entries[this.#reported];
      if (entry?.outcome === undefined) return;
      this.#reported++;
      const { status, content, details, decidedBy } = entry.outcome;
      const { call, tool } = entry.block;
      this.#bus.publish("ToolResult", {
        ...{ call, tool, status, content },
        ...(details && { details }),
        ...(decidedBy !== undefined && { decided_by: decidedBy }),
      });
    }
  }

  /** Executes a call; one that keeps failing in the same way is named, and then not run again. */
  async #execute(entry: Entry): Promise<ToolOutcome> {
    const { repeatedCalls } = this.#turn;
    const { tool, args, malformed } = entry.block;
    const key = JSON.stringify([tool, args, malformed]);
    const before = repeatedCalls.get(key);
    if (before !== undefined && before.times >= before.most) {
      this.#failure ??= failure("RepeatedCall", { tool, times: before.times });
      return outcome("error", `Not run: the same call had the same result ${before.times} times.`);
    }
    const result = await this.#attempt(entry);
    if (result.status === "cancelled" || result.status === "skipped") return result;
    const isChange = entry.tool?.mutating === true && entry.tool.onlyReads?.(args) !== true;
    const isRead = result.status === "ok" && !isChange && entry.tool?.set === "read";
    if (result.status === "ok" && !isRead) {
      if (isChange) repeatedCalls.clear();
      else repeatedCalls.delete(key);
      return result;
    }
    const said = plainText(result.content);
    // The times and sizes of a failure differ from call to call.
    const words = isRead ? said : said.replaceAll(/\d+/g, "0");
    const times = before?.result === words ? before.times + 1 : 1;
    repeatedCalls.set(key, { result: words, times, most: isRead ? MOST_READINGS : MOST_REPEATS });
    return times < MOST_REPEATS ? result : withNotes(result, [repeatText(times)]);
  }

  async #attempt(entry: Entry): Promise<ToolOutcome> {
    const { block, tool, refused } = entry;
    const isCut = this.#turn.truncated && this.#turn.cutCalls > 0 && entry === this.#entries.at(-1);
    if (isCut) return outcome("error", cutText(this.#turn.outputLimit));
    if (block.malformed !== undefined && tool !== undefined) return outcome("error", malformedText(block.malformed));
    if (tool === undefined || refused !== undefined)
      return outcome("error", refused ?? unknownTool(this.#ports.tools, block.tool));
    if (tool.mutating && tool.onlyReads?.(block.args) !== true) this.#turn.unchanged = {};
    const context: ToolLinkContext = {
      call: block.call,
      definition: tool,
      turn: this.#turn,
      unchanged: this.#turn.unchanged,
      signal: this.#signal,
      progress: (progress) => {
        if (entry.outcome === undefined) this.#bus.publish("ToolCallProgress", { call: block.call, text: progress });
      },
    };
    const chain = compose(
      this.#ports.toolLinks,
      (call, inner) => this.#timing.measure(`tool/${tool.name}`, () => tool.run(call.args, inner)),
      { timing: this.#timing, prefix: "tool-link" },
    );
    try {
      const grace = { clock: this.#ports.clock, ms: STOP_GRACE_MS };
      const result = await unlessAbandoned(chain(block, context), this.#signal, grace);
      if (result === ABANDONED) return outcome("cancelled", "Cancelled; it did not stop in time.");
      return withNotes(result, entry.notes);
    } catch (error) {
      if (error instanceof TurnFailure) this.#failure ??= error.failure;
      else if (this.#signal.aborted) return outcome("cancelled", "Cancelled before it finished.");
      // The tool's own text, which may contain untrusted content.
      return { status: "error", content: [text(error instanceof Error ? error.message : String(error))] };
    }
  }
}

function isOpen({ running, given }: Entry): boolean {
  return running === undefined && given === undefined;
}

export function outcome(status: ToolOutcome["status"], message: string): ToolOutcome {
  return { status, content: [ownText(message)] };
}

function withNotes(result: ToolOutcome, notes: readonly string[]): ToolOutcome {
  if (notes.length === 0) return result;
  return { ...result, content: [...result.content, ownText(`[${notes.join(" ")}]`)] };
}

function cutText(limit: number | undefined): string {
  const tokens = limit === undefined ? "" : ` of ${groupDigits(limit)} tokens`;
  return `Your answer reached the output limit${tokens}, so this call was cut and not run. Write the file in parts.`;
}

function repeatText(times: number): string {
  return `Same call, same result, ${times} times. Change something or tell the user.`;
}

function malformedText(raw: string): string {
  const shown = raw.length > 300 ? `${raw.slice(0, 200)} … ${raw.slice(-80)}` : raw;
  const problem =
    nestingOf(raw) > MOST_ARGUMENT_LEVELS
      ? `are nested more than ${MOST_ARGUMENT_LEVELS} levels deep`
      : "were not one complete JSON object";
  return `The arguments ${problem}, so the call was not run. Send the whole call again. Received: ${shown}`;
}

function toResultBlock(entry: Entry): ToolResultBlock {
  const { call, tool } = entry.block;
  const result = entry.outcome ?? outcome("cancelled", "Cancelled before it started.");
  return { type: "tool_result", call, tool, content: result.content, is_error: result.status !== "ok" };
}
