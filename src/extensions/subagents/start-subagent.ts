/**
 * Runs one subagent: a separate session that works on one prompt and ends.
 *
 * 1. Its session names the call that it works for. Its events are in its own log; the parent's log has its start, progress and end.
 * 2. It may do what its parent may do at that moment, with the tools of its type, and never more.
 * 3. When the signal fires, its turn is cancelled with everything that it runs, and its session is closed before this returns.
 */
import { onAbort } from "../../base/abort-tree.js";
import type { ToolOutcome } from "../../engine/ports.js";
import { ownText } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { Failure } from "../../protocol/errors.js";
import type { EventPayloads, SubagentName } from "../../protocol/events.js";
import type { CallId } from "../../protocol/ids.js";
import { NO_USAGE } from "../../protocol/usage.js";
import type { OpenedSubagent, SubagentsContext, SubagentWork } from "./context.js";
import { callWords, resultOf, tokensOf } from "./result.js";
import { worktreeRecords } from "./settings.js";

export async function runSubagent(context: SubagentsContext, work: SubagentWork): Promise<ToolOutcome> {
  const worktree = work.type.isolation === "worktree" ? await enterWorktree(context, work) : undefined;
  if (worktree !== undefined && "problem" in worktree) return failed(worktree.problem);
  try {
    const opened = await context.open(work, worktree?.root);
    if ("problem" in opened) return failed(opened.problem);
    const { ended, elapsedMs, calls } = await workOn(opened, context, work);
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

async function enterWorktree(context: SubagentsContext, { call, signal, description }: SubagentWork) {
  const { root, roots } = context;
  const name = call.slice(-8).toLowerCase();
  const hooks = context.hooks();
  if (hooks.has("WorktreeCreate")) {
    const { hookWorktree } = await import("./hook-worktree.js");
    return hookWorktree({ root, name, hooks, signal });
  }
  const [{ openWorktree }, git] = await Promise.all([import("./worktree.js"), context.git()]);
  const worktree = await openWorktree({ root, git, name, description, records: worktreeRecords(roots) });
  if ("problem" in worktree) return worktree;
  const remove = async () => {
    await hooks.fire("WorktreeRemove", { input: { worktree_path: worktree.root } });
    await worktree.remove();
  };
  return { ...worktree, remove };
}

async function workOn({ run, start, show }: OpenedSubagent, context: SubagentsContext, work: SubagentWork) {
  const { bus, clock } = context;
  const { call, type, description, model, signal } = work;
  const name: SubagentName = { call, session: run.session, type: type.name };
  const from = clock.now();
  const progress = new Progress(context, work, { name, from });
  const now = { does: () => progress.last, tokens: () => progress.tokens };
  const leave = show({ type: type.name, description, since: from, ...now });
  bus.publish("SubagentStarted", { ...name, provider: model.provider, model: model.model, description });
  run.bus.subscribe((event) => progress.see(event));
  const stopListening = onAbort(signal, () => {
    const { by = "", failure: cause } = (signal.reason ?? {}) as { readonly by?: string; readonly failure?: Failure };
    run.cancel(by, cause);
  });
  let ended: EventPayloads["TurnEnded"] | undefined;
  try {
    const started = start();
    // If the signal fired before the turn began, the turn must not begin.
    if (signal.aborted) run.cancel("");
    ended = await started;
  } finally {
    stopListening();
    await run.close("user");
    leave();
    const elapsed_ms = Math.round(clock.now() - from);
    const { outcome = "failed", usage = NO_USAGE, cost } = ended ?? {};
    bus.publish("SubagentEnded", { ...name, outcome, elapsed_ms, usage, ...(cost !== undefined && { cost }) });
  }
  if (ended === undefined) throw new Error(`The subagent ${type.name} did not begin its turn.`);
  return { ended, elapsedMs: Math.round(clock.now() - from), calls: progress.calls };
}

/** Shows the parent's clients what the subagent does. */
class Progress {
  readonly #context: Pick<SubagentsContext, "bus" | "clock">;
  readonly #work: SubagentWork;
  readonly #name: SubagentName;
  readonly #from: number;
  readonly #words = new Map<CallId, string>();
  #tokens = 0;
  #calls = 0;
  #last = "begins";
  #ended = false;

  constructor(
    context: Pick<SubagentsContext, "bus" | "clock">,
    work: SubagentWork,
    { name, from }: { readonly name: SubagentName; readonly from: number },
  ) {
    this.#context = context;
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

  /** Tells what it does now. */
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
    const { bus, clock } = this.#context;
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
