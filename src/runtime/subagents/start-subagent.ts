/**
 * Runs one subagent: a separate session that works on one prompt and ends.
 *
 * 1. Its session names the call that it works for. Its events are in its own log; the parent's log has its start, progress and end.
 * 2. It may do what its parent may do at that moment, with the tools of its type, and never more.
 * 3. When the signal fires, its turn is cancelled with everything that it runs, and its session is closed before this returns.
 */
import { onAbort } from "../../base/abort-tree.js";
import type { CancelReason } from "../../engine/cancel.js";
import type { TurnResult } from "../../engine/loop.js";
import type { Model, ToolOutcome } from "../../engine/ports.js";
import type { Turn } from "../../engine/turn.js";
import { type AgentType, mayUse } from "../../extensions/subagents/agent-type.js";
import type { TurnCount } from "../../extensions/subagents/limits.js";
import { callWords, resultOf, tokensOf } from "../../extensions/subagents/result.js";
import { ownText, text } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { SubagentName } from "../../protocol/events.js";
import type { CallId } from "../../protocol/ids.js";
import { NO_USAGE } from "../../protocol/usage.js";
import type { SessionParts } from "../open-engine.js";
import type { OpenedRun, Opening } from "../opening.js";
import { runOf } from "../opening.js";
import type { ParentRun } from "./parent-run.js";
import { type OpenedSubagent, worktreeRecords } from "./running-subagents.js";
import type { Worktree } from "./worktree.js";

export interface SubagentWork {
  readonly type: AgentType;
  readonly model: Model;
  readonly prompt: string;
  readonly description: string;
  readonly call: CallId;
  readonly turn: Turn;
  readonly signal: AbortSignal;
  readonly count: TurnCount;
  readonly notes: readonly string[];
  /** It works for a hook. */
  readonly isOfHook?: true;
}

export type OpenSubagent = (
  engine: SessionParts,
  parent: ParentRun,
) => Promise<OpenedRun | { readonly problem: string }>;

export async function runSubagent(opening: Opening, work: SubagentWork, open: OpenSubagent): Promise<ToolOutcome> {
  const worktree = work.type.isolation === "worktree" ? await enterWorktree(opening, work) : undefined;
  if (worktree !== undefined && "problem" in worktree) return failed(worktree.problem);
  try {
    const content = opening.engine.content?.fork();
    const engine = { ...opening.engine, content, model: work.model, ...(worktree && { root: worktree.root }) };
    const opened = await open(engine, parentOf(opening, work, worktree));
    if ("problem" in opened) return failed(opened.problem);
    const { ended, elapsedMs, calls } = await workOn({ ...opened, place: engine }, opening, work);
    const kept = await worktree?.keep(work.description);
    const notes = [...work.notes, ...(kept === undefined ? [] : [kept])];
    return resultOf({ type: work.type.name, session: opened.run.session, ended, elapsedMs, calls, notes });
  } finally {
    await worktree?.remove();
  }
}

function failed(problem: string): ToolOutcome {
  return { status: "error", content: [ownText(`The subagent did not start. ${problem}`)] };
}

async function enterWorktree({ engine, built }: Opening, { call, signal, description }: SubagentWork) {
  const { root, variables, loaded } = engine;
  const name = call.slice(-8).toLowerCase();
  const events = built.get("events");
  if (events.has("WorktreeCreate")) {
    const { hookWorktree } = await import("./hook-worktree.js");
    return hookWorktree({ root, name, events, signal });
  }
  const { openWorktree } = await import("./worktree.js");
  const worktree = await openWorktree({
    ...{ root, variables, name, description },
    records: worktreeRecords(loaded.roots),
  });
  if ("problem" in worktree) return worktree;
  const remove = async () => {
    await events.fire("WorktreeRemove", { input: { worktree_path: worktree.root } });
    await worktree.remove();
  };
  return { ...worktree, remove };
}

function parentOf(opening: Opening, work: SubagentWork, worktree: Worktree | undefined): ParentRun {
  const { session, built, parent } = opening;
  const { type, turn, call, count } = work;
  const timeoutMs = opening.engine.loaded.settings.agent_timeout_ms.value;
  return {
    name: { call, type: type.name },
    link: { session, turn: turn.id, call },
    turn: turn.id,
    depth: (parent?.depth ?? 0) + 1,
    permissions: built.get("permissions"),
    costs: built.get("costs"),
    paid: ({ usage, cost, provider, model }) => turn.pay(usage, cost, { provider, model }),
    ...(worktree === undefined && { undo: built.get("undo") }),
    hookVariables: built.get("hookVariables"),
    outputDirectory: built.get("outputDirectory"),
    sandbox: built.get("sandbox"),
    extensions: opening.extensions,
    prompts: runOf(opening).permissionPrompts,
    mayUse: (tool) => mayUse(type, tool) && (parent?.mayUse(tool) ?? true),
    ...(type.agents && { agents: type.agents }),
    ...(type.prompt !== "" && { prompt: type.prompt }),
    ...(type.path !== undefined && { agentFile: type.path }),
    ...(type.effort && { effort: type.effort }),
    ...(type.maxIterations !== undefined && { maxIterations: type.maxIterations }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    onlyReads: type.onlyReads === true || parent?.onlyReads === true,
    count,
    ...(work.isOfHook && { isOfHook: true as const }),
  };
}

async function workOn(opened: OpenedSubagent, opening: Opening, work: SubagentWork) {
  const { run } = opened;
  const { bus, clock } = opening;
  const { call, type, description, model, signal } = work;
  const name: SubagentName = { call, session: run.session, type: type.name };
  const from = clock.now();
  const progress = new Progress(opening, work, { name, from });
  const subagent = {
    ...{ run, parent: opening.session, type: type.name, description, since: from },
    ...{ does: () => progress.last, tokens: () => progress.tokens },
  };
  const leave = opening.engine.subagents?.add(subagent, opened);
  bus.publish("SubagentStarted", { ...name, provider: model.provider, model: model.model, description });
  run.bus.subscribe((event) => progress.see(event));
  const stopListening = onAbort(signal, () => {
    const { by = "", failure: cause } = (signal.reason ?? {}) as Partial<CancelReason>;
    run.cancel(by, cause);
  });
  let ended: TurnResult | undefined;
  try {
    const started = run.start({ content: [text(work.prompt)], originator: runOf(opening).originator });
    // If the signal fired before the turn began, the turn must not begin.
    if (signal.aborted) run.cancel("");
    ended = "ended" in started ? await started.ended : undefined;
  } finally {
    stopListening();
    await run.close("user");
    leave?.();
    const elapsed_ms = Math.round(clock.now() - from);
    const { outcome = "failed", usage = NO_USAGE, cost } = ended ?? {};
    bus.publish("SubagentEnded", { ...name, outcome, elapsed_ms, usage, ...(cost !== undefined && { cost }) });
  }
  if (ended === undefined) throw new Error(`The subagent ${type.name} did not begin its turn.`);
  return { ended, elapsedMs: Math.round(clock.now() - from), calls: progress.calls };
}

/** Shows the parent's clients what the subagent does. */
class Progress {
  readonly #opening: Opening;
  readonly #work: SubagentWork;
  readonly #name: SubagentName;
  readonly #from: number;
  readonly #words = new Map<CallId, string>();
  #tokens = 0;
  #calls = 0;
  #last = "begins";
  #ended = false;

  constructor(
    opening: Opening,
    work: SubagentWork,
    { name, from }: { readonly name: SubagentName; readonly from: number },
  ) {
    this.#opening = opening;
    this.#work = work;
    this.#name = name;
    this.#from = from;
  }

  get calls(): number {
    return this.#calls;
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** What it does now. */
  get last(): string {
    return this.#last;
  }

  see(event: Envelope): void {
    if (event.kind === "CostIncremented") this.#tokens += tokensOf(event.payload.usage);
    if (event.kind === "TurnEnded") this.#ended = true;
    if (event.kind === "ToolCallStarted") {
      const { call, tool, args } = event.payload;
      this.#calls++;
      this.#words.set(call, callWords(tool, args));
      this.#reportProgress(callWords(tool, args));
    }
    if (event.kind === "AnswerEnded" && event.payload.stop === "end") this.#reportProgress("writes its report");
    if (event.kind === "ToolResult") this.#recordUnanswered(event.payload);
  }

  #reportProgress(words: string): void {
    this.#last = words;
    const { bus, clock } = this.#opening;
    if (this.#ended || this.#work.signal.aborted) return;
    const elapsed_ms = Math.round(clock.now() - this.#from);
    bus.publish("SubagentProgress", { ...this.#name, text: words, elapsed_ms, tokens: this.#tokens });
  }

  /** If no client could give a permission, it counts as missing in the parent's turn as well. */
  #recordUnanswered({ call, tool, details }: Extract<Envelope, { kind: "ToolResult" }>["payload"]): void {
    const { reason } = (details?.failure ?? {}) as { readonly reason?: string };
    if (reason !== "PermissionUnanswerable") return;
    this.#work.turn.unanswered.push({ tool, about: this.#words.get(call) ?? tool });
  }
}
