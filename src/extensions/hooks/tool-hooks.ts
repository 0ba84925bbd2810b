/**
 * The hooks around a call: before it, about its permission, and after it.
 *
 * 1. PreToolUse runs before the permission rules, so the rules decide about the changed call.
 * 2. A changed input is checked like the model's own, and all other hooks see it before it is used.
 */
import { relative } from "node:path";
import { schemaProblems } from "../../base/json-schema.js";
import type { Tool, ToolCall, ToolLink, ToolLinkContext, ToolOutcome } from "../../engine/ports.js";
import type { ApprovalGate, GateContext, GateReview } from "../../feature/part.js";
import { ownText, resultText, text } from "../../protocol/content.js";
import type { ToolKind } from "../../protocol/events.js";
import type { CallId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";
import type { HookSurroundings } from "./context.js";
import type { EventHooks, Fired, FiredHook } from "./event-hooks.js";
import { type HookAnswer, joinAnswers } from "./hook-answer.js";
import { TaskHooks } from "./task-hooks.js";
import { type ToolViews, toolViews } from "./tool-views.js";

export interface ToolHooksOptions extends Pick<HookSurroundings, "recorded" | "readArguments"> {
  readonly hooks: EventHooks;
  readonly root: string;
  readonly now: () => number;
}

const SHOWN_CHARACTERS = 2000;

export class ToolHooks {
  readonly #options: ToolHooksOptions;
  /** Holds what PreToolUse hooks decided about calls that wait for their permission. */
  readonly #decided = new Map<CallId, HookAnswer>();

  readonly #tasks: TaskHooks;

  constructor(options: ToolHooksOptions) {
    this.#options = options;
    this.#tasks = new TaskHooks(options.hooks);
  }

  get link(): ToolLink {
    return { name: "15-event-hooks", run: (call, context, next) => this.#around(call, context, next) };
  }

  get gate(): ApprovalGate {
    return { review: (call, about) => this.#review(call, about) };
  }

  async #around(
    call: ToolCall,
    context: ToolLinkContext,
    next: (call: ToolCall) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    const before = await this.#before(call, context);
    if ("outcome" in before) return before.outcome;
    const { call: final, answer } = before;
    if (answer.decision !== undefined) this.#decided.set(call.call, answer);
    const startedAt = this.#options.now();
    try {
      const tasks = answer.decision === "deny" ? undefined : await this.#aboutTasks(final, context);
      if (tasks?.refuses) return refused(`a hook refused it: ${tasks.reason}`);
      const outcome = await next(final);
      if (outcome.status === "ok" && context.definition.kind === "plan") this.#tasks.done(final);
      const changed = final === call ? [] : [changedNote(final.args)];
      const notes = [...changed, ...contextOf(answer), ...contextOf(tasks ?? {})];
      const annotated = notes.length === 0 ? outcome : withNotes(outcome, notes);
      return await this.#after(final, annotated, { context, ms: this.#options.now() - startedAt });
    } finally {
      this.#decided.delete(call.call);
    }
  }

  async #aboutTasks(call: ToolCall, { definition, turn, signal }: ToolLinkContext): Promise<HookAnswer | undefined> {
    if (definition.kind !== "plan") return undefined;
    return this.#tasks.before(call, { conversation: turn?.conversation ?? [], signal });
  }

  async #before(
    call: ToolCall,
    context: ToolLinkContext,
  ): Promise<{ readonly call: ToolCall; readonly answer: HookAnswer } | { readonly outcome: ToolOutcome }> {
    const fired = await this.#fire(call, context);
    const stopped = stopOf(fired.answer, context);
    if (stopped !== undefined) return { outcome: stopped };
    const changer = fired.each.findLast(({ answer }) => answer.updatedInput !== undefined);
    if (changer === undefined || fired.answer.decision === "deny") return { call, answer: fired.answer };
    const changed = await this.#changedArguments(changer, context.definition);
    if ("problem" in changed) return { outcome: refused(`a hook changed its input, and ${changed.problem}`) };
    const final = { ...call, args: changed.args };
    // The other hooks have seen only the original input.
    const again = await this.#fire(final, context, changer);
    const stoppedAgain = stopOf(again.answer, context);
    if (stoppedAgain !== undefined) return { outcome: stoppedAgain };
    const first = joinAnswers(fired.each.map(({ answer }) => answer));
    return { call: final, answer: joinAnswers([first, again.answer]) };
  }

  #fire(call: ToolCall, { definition, signal }: ToolLinkContext, except?: FiredHook): Promise<Fired> {
    const views = this.#views(call, definition);
    const input = { tool_use_id: call.call };
    return this.#options.hooks.fire("PreToolUse", { views, input, signal }, except === undefined ? [] : [except.hook]);
  }

  #views(call: ToolCall, { name }: Tool): ToolViews {
    return toolViews({ tool: name, args: call.args }, this.#options.root);
  }

  async #review(call: ToolCall, { definition, verdict, signal }: GateContext): Promise<GateReview | undefined> {
    const own = reviewOf(this.#decided.get(call.call), "PreToolUse");
    if (own?.decision === "deny") return own;
    const { hooks } = this.#options;
    const asks = own?.decision === "ask" || (verdict.decision === "ask" && own?.decision !== "allow");
    if (!asks || !hooks.has("PermissionRequest")) return own;
    const views = this.#views(call, definition);
    const input = { tool_use_id: call.call, permission_suggestions: [] };
    const { answer } = await hooks.fire("PermissionRequest", { views, input, signal });
    const asked = reviewOf(answer, "PermissionRequest");
    return asked?.decision === "deny" || own === undefined ? asked : own;
  }

  async #after(
    call: ToolCall,
    outcome: ToolOutcome,
    { context, ms }: { readonly context: ToolLinkContext; readonly ms: number },
  ): Promise<ToolOutcome> {
    const { hooks, root } = this.#options;
    const { definition, signal } = context;
    const { status, details } = outcome;
    const views = this.#views(call, definition);
    const output = resultText(outcome.content);
    const input = { tool_use_id: call.call, duration_ms: Math.round(ms) };
    if (status === "denied") hooks.aside("PermissionDenied", { views, input: { ...input, reason: output } });
    if (status !== "ok" && status !== "error" && status !== "timeout") return outcome;
    const result = { kind: definition.kind, input: views.parts[0]?.input ?? {}, text: output, details };
    const after = { views, signal, input: { ...input, tool_response: toolResponse(result) } };
    const isWanted = definition.mutating && hooks.fires("PostToolUse", after);
    // A hook may also write a log; the model only needs to know about the files that it works on.
    const touched = new Set(views.parts.map((view) => view.input.file_path).filter((path) => typeof path === "string"));
    let changed: readonly string[] = [];
    const { answer } =
      status === "ok"
        ? await this.#options.recorded(
            isWanted ? [...touched] : [],
            () => hooks.fire("PostToolUse", after),
            (files) => {
              changed = files.map((file) => relative(root, file));
            },
          )
        : await hooks.fire("PostToolUseFailure", {
            views,
            signal,
            input: { ...input, error: output, is_interrupt: false },
          });
    if (answer.stop !== undefined) context.turn?.stop("PostToolUse", answer.stop);
    const replaced =
      answer.updatedOutput === undefined ? outcome : { ...outcome, content: [text(answer.updatedOutput)] };
    const notes = [
      ...(changed.length === 0 ? [] : [changedFilesNote(changed)]),
      ...(answer.refuses && answer.reason ? [answer.reason] : []),
      ...contextOf(answer),
    ];
    return notes.length === 0 ? replaced : withNotes(replaced, notes);
  }

  async #changedArguments(
    { view, answer }: FiredHook,
    tool: Tool,
  ): Promise<{ readonly args: JsonObject } | { readonly problem: string }> {
    if (view?.argsOf === undefined) return { problem: "a hook cannot change the input of this tool." };
    try {
      const read = this.#options.readArguments(tool, view.argsOf(answer.updatedInput ?? {}));
      if (read.refused !== undefined) return { problem: read.refused };
      const final = (await tool.canonical?.(read.args)) ?? read.args;
      const problems = schemaProblems(tool.inputSchema, final);
      return problems.length === 0 ? { args: final } : { problem: `${problems.join("; ")}.` };
    } catch (error) {
      return { problem: (error as Error).message };
    }
  }
}

function changedFilesNote(files: readonly string[]): string {
  return `A hook changed ${files.join(", ")} after this call. Read it again before you change it.`;
}

function reviewOf(answer: HookAnswer | undefined, event: string): GateReview | undefined {
  if (answer?.decision === undefined) return undefined;
  return { decision: answer.decision, by: `hook ${event}`, reason: answer.reason ?? "A hook decided." };
}

function stopOf({ stop }: HookAnswer, { turn }: ToolLinkContext): ToolOutcome | undefined {
  if (stop === undefined) return undefined;
  turn?.stop("PreToolUse", stop);
  return { status: "skipped", content: [ownText(`Not run: a hook stopped the turn. ${stop}`)] };
}

function refused(why: string): ToolOutcome {
  return { status: "error", content: [ownText(`Not run: ${why}`)] };
}

function contextOf({ context }: HookAnswer): readonly string[] {
  return context === undefined ? [] : [context];
}

function changedNote(args: JsonObject): string {
  const shown = JSON.stringify(args);
  const short = shown.length > SHOWN_CHARACTERS ? `${shown.slice(0, SHOWN_CHARACTERS - 1)}…` : shown;
  return `A hook changed the input of this call to ${short}`;
}

/** The text of hooks counts as the user's own, because the user wrote or approved the hook. */
function withNotes(outcome: ToolOutcome, notes: readonly string[]): ToolOutcome {
  return { ...outcome, content: [...outcome.content, ...notes.map((note) => ownText(`[hook] ${note}`))] };
}

/** The result of a call; hooks get it in another form. */
interface ResultForHooks {
  readonly kind: ToolKind | undefined;
  readonly input: JsonObject;
  readonly text: string;
  readonly details: JsonObject | undefined;
}

function toolResponse({ kind, input, text, details = {} }: ResultForHooks): JsonObject {
  if (kind === "run") {
    const { exit_code = null } = details;
    return { success: true, stdout: text, stderr: "", interrupted: false, isImage: false, exit_code };
  }
  const { file_path } = input;
  if (typeof file_path === "string" && kind !== "read") return { filePath: file_path, success: true, content: text };
  return { success: true, content: text };
}
