/**
 * The hooks of a session: finds those for an event, runs them concurrently and joins their answers.
 *
 * 1. A session has the hooks that were approved when it started, and those that the user approves during it. A hook stays until the
 *    session ends, even if its file changes: a change of the file never switches a hook off.
 * 2. A hook that fails or is late changes nothing, unless it has `onFailure: "block"`; an event reports it.
 * 3. An allow counts only from a hook that the project cannot change: a file that the model can write never answers for the user.
 */
import { safeLine } from "../../base/terminal-text.js";
import type { JsonObject } from "../../protocol/json.js";
import { conditionHolds } from "./condition.js";
import type { ConfiguredHook } from "./configuration.js";
import { type HookAnswer, joinAnswers, readAnswer, withoutPermission } from "./hook-answer.js";
import { type HookEvent, needsAnswer, takesVariables } from "./hook-events.js";
import { shownHandler } from "./hook-handler.js";
import { parseMatcher } from "./matcher.js";
import { exitCodeOf, type HookEnd, type HookPlace, needsSandbox, runHook } from "./run-hook.js";
import { type HookServices, runService } from "./run-service.js";
import type { ToolView, ToolViews } from "./tool-views.js";
import { readVerdict } from "./verdict.js";

export interface EventHooksOptions extends HookPlace {
  /** Holds what every hook gets on stdin, and in its environment. */
  readonly session: string;
  common(): JsonObject;
  /** Removes secrets from texts for the model and the user. */
  redact(text: string): Promise<string>;
  onTimeout(about: { readonly event: HookEvent; readonly command: string; readonly timeoutMs: number }): void;
  onError(about: {
    readonly event: HookEvent;
    readonly command: string;
    readonly exitCode: number;
    readonly detail: string;
  }): void;
  /** For the user. */
  onMessage(message: string): void;
  /** For the user while a hook runs; empty when it has ended. */
  onStatus(message: string): void;
  /** Tells what a hook wrote to `CLAUDE_ENV_FILE`; `isContained`: the project can change the hook. */
  onEnvironment(written: { readonly text: string; readonly isContained: boolean }): void;
  /** Tells what a hook in the background has for the model. */
  onLate(event: HookEvent, text: string): void;
  readonly services: HookServices;
  /** Inside a hook's own subagent: hooks that ask a model do not run, or they would start each other without end. */
  readonly isOfHook: boolean;
}

export interface HookOccasion {
  /** The fields of the event. */
  readonly input: JsonObject;
  /** The text for the matcher, for events that are not about tools. */
  readonly subject?: string;
  /** The call, for events about tools. */
  readonly views?: ToolViews;
  readonly signal?: AbortSignal;
}

interface PlannedRun {
  readonly hook: ConfiguredHook;
  readonly view?: ToolView;
}

export interface FiredHook {
  readonly hook: ConfiguredHook;
  readonly view?: ToolView;
  readonly answer: HookAnswer;
  readonly environment?: string;
}

export interface Fired {
  readonly answer: HookAnswer;
  readonly each: readonly FiredHook[];
}

const CLOSING_MS = 1000;
/** For messages and the log. */
const SHOWN_CHARACTERS = 120;

export class EventHooks {
  #hooks: readonly ConfiguredHook[] = [];
  readonly #options: EventHooksOptions;
  /** Fixed when a hook is added: files that the model creates later do not change it. */
  readonly #contained = new Set<ConfiguredHook>();
  readonly #done = new Set<ConfiguredHook>();
  readonly #background = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  constructor(hooks: readonly ConfiguredHook[], options: EventHooksOptions) {
    this.#options = options;
    this.add(hooks);
  }

  /** They replace the hooks of the same event that came from the same file. */
  add(hooks: readonly ConfiguredHook[]): void {
    const isReplaced = ({ event, path }: ConfiguredHook) =>
      hooks.some((hook) => hook.event === event && hook.path === path);
    this.#hooks = [...this.#hooks.filter((hook) => !isReplaced(hook)), ...hooks];
    for (const hook of hooks) if (needsSandbox(hook, this.#options)) this.#contained.add(hook);
  }

  has(...events: readonly HookEvent[]): boolean {
    return this.#hooks.some(({ event }) => events.includes(event));
  }

  /** The names of files that hooks of FileChanged name: there a matcher is a list of names. */
  get watchedNames(): readonly string[] {
    const hooks = this.#hooks.filter((hook) => hook.event === "FileChanged" && this.#isOn(hook));
    return hooks.flatMap(({ matcher = "" }) => matcher.split("|").map((name) => name.trim())).filter(isFileName);
  }

  /** Tells whether a hook would run. */
  fires(event: HookEvent, occasion: HookOccasion): boolean {
    return this.has(event) && this.#planned(event, occasion).length > 0;
  }

  async fire(event: HookEvent, occasion: HookOccasion, skip: readonly ConfiguredHook[] = []): Promise<Fired> {
    const planned = this.#planned(event, occasion).filter(({ hook }) => !skip.includes(hook));
    if (planned.length === 0) return { answer: {}, each: [] };
    const shows = planned.some(({ hook }) => hook.statusMessage !== undefined && !hook.inBackground);
    const each = await Promise.all(planned.map((run) => this.#run(run, occasion)));
    if (shows) this.#options.onStatus("");
    for (const { hook, environment } of each) this.#takeEnvironment(hook, environment);
    const answer = await this.#redacted(joinAnswers(each.map((fired) => fired.answer)));
    if (answer.message !== undefined) this.#options.onMessage(answer.message);
    return { answer, each };
  }

  /** Runs hooks without waiting for them. Most of their answers count nowhere. */
  aside(event: HookEvent, occasion: HookOccasion, take: (answer: HookAnswer) => void = () => {}): void {
    if (!this.has(event)) return;
    const fired = this.fire(event, { ...occasion, signal: this.#closing.signal });
    this.#keep(fired.then(({ answer }) => take(answer)));
  }

  /** Background hooks get a moment to end; then they are stopped. */
  async close(): Promise<void> {
    const stopTimer = this.#options.clock.after(CLOSING_MS, () => this.#closing.abort());
    await Promise.all(this.#background);
    stopTimer();
  }

  #planned(event: HookEvent, { subject, views }: HookOccasion): readonly PlannedRun[] {
    return this.#hooks
      .filter((hook) => hook.event === event && this.#isOn(hook))
      .flatMap((hook): readonly PlannedRun[] => {
        const { matches } = parseMatcher(hook.matcher);
        if (views === undefined) return subject === undefined || matches(subject) ? [{ hook }] : [];
        const fits = (view: ToolView) => view.names.some(matches) && this.#holds(hook, view);
        const parts = views.parts.filter(fits);
        const chosen = parts.length > 0 ? parts : [views.whole].filter((whole) => whole !== undefined && fits(whole));
        return chosen.map((view) => ({ hook, ...(view !== undefined && { view }) }));
      });
  }

  #isOn(hook: ConfiguredHook): boolean {
    if (this.#done.has(hook) || (this.#options.isOfHook && asksModel(hook))) return false;
    return hook.isActive?.() !== false;
  }

  #holds({ condition }: ConfiguredHook, view: ToolView): boolean {
    return condition === undefined || conditionHolds(condition, view, this.#options);
  }

  async #run({ hook, view }: PlannedRun, { input, signal }: HookOccasion): Promise<FiredHook> {
    const fired = { hook, ...(view !== undefined && { view }) };
    const stdin = JSON.stringify({
      ...this.#options.common(),
      hook_event_name: hook.event,
      ...(view !== undefined && { tool_name: view.names[0], tool_input: view.input }),
      ...input,
    });
    if (hook.inBackground) {
      const running = this.#start({ hook, ...(view && { view }) }, stdin, this.#closing.signal);
      this.#keep(running.then((end) => this.#late(hook, end)));
      return { ...fired, answer: {} };
    }
    if (hook.statusMessage !== undefined) this.#options.onStatus(safeLine(hook.statusMessage));
    const end = await this.#start({ hook, ...(view && { view }) }, stdin, signal);
    const environment = environmentOf(end);
    return { ...fired, answer: this.#report(hook, end), ...(environment !== undefined && { environment }) };
  }

  #start({ hook, view }: PlannedRun, input: string, signal: AbortSignal | undefined): Promise<HookEnd> {
    const { handler, timeoutMs } = hook;
    const stop = signal && { signal };
    if (handler.type !== "command") return runService({ hook, input, ...stop }, this.#options);
    const isContained = this.#contained.has(hook);
    const variables = { ...this.#variables(hook), ...callVariables(view) };
    const hasEnvironmentFile = takesVariables(hook.event);
    const start = { hook: { handler, timeoutMs }, input, variables, isContained, hasEnvironmentFile, ...stop };
    return runHook(start, this.#options);
  }

  /** The action is over: only words for the model are left, and an end with code 2 if the hook wakes it. */
  async #late(hook: ConfiguredHook, end: HookEnd): Promise<void> {
    this.#takeEnvironment(hook, environmentOf(end));
    const answer = this.#report(hook, end);
    const reason = hook.wakes && (answer.refuses || answer.decision === "deny") ? answer.reason : undefined;
    const before = reason === undefined ? undefined : hook.wakeMessage;
    const text = [before, reason, answer.context, answer.message].filter((part) => part !== undefined).join("\n\n");
    if (text !== "") this.#options.onLate(hook.event, await this.#options.redact(text));
  }

  #takeEnvironment(hook: ConfiguredHook, text: string | undefined): void {
    if (text !== undefined) this.#options.onEnvironment({ text, isContained: this.#contained.has(hook) });
  }

  #keep(running: Promise<unknown>): void {
    const kept = running.catch(() => {}).finally(() => this.#background.delete(kept));
    this.#background.add(kept);
  }

  #report(hook: ConfiguredHook, end: HookEnd): HookAnswer {
    const { event, timeoutMs, refusesOnFailure } = hook;
    const command = shown(hook);
    const failed = (why: string): HookAnswer =>
      refusesOnFailure
        ? { ...readAnswer(event, { exitCode: 2, stdout: "", stderr: `The hook ${command} ${why}.` }) }
        : {};
    if (end.kind === "cancelled") return {};
    if (end.kind === "timeout") {
      this.#options.onTimeout({ event, command, timeoutMs });
      return needsAnswer(event) ? late(event, command) : failed("did not end in time");
    }
    const answer = answerOf(hook, end);
    if (answer.problem !== undefined) {
      this.#options.onError({ event, command, exitCode: exitCodeOf(end), detail: answer.problem });
      return { ...withoutProblem(answer), ...failed("failed") };
    }
    if (hook.once && !answer.refuses && answer.decision !== "deny") this.#done.add(hook);
    return this.#contained.has(hook) ? withoutPermission(answer) : answer;
  }

  #variables({ event, folder, pluginRoot }: ConfiguredHook): Readonly<Record<string, string>> {
    const { root, session } = this.#options;
    return {
      CLAUDE_PROJECT_DIR: root,
      OXBOW_PROJECT_DIR: root,
      CLAUDECODE: "1",
      CLAUDE_CODE_SESSION_ID: session,
      OXBOW_SESSION_ID: session,
      OXBOW_HOOK_EVENT: event,
      ...(folder !== undefined && { CLAUDE_PLUGIN_ROOT: folder, CLAUDE_SKILL_DIR: folder }),
      ...(pluginRoot !== undefined && { CLAUDE_PLUGIN_ROOT: pluginRoot }),
    };
  }

  async #redacted(answer: HookAnswer): Promise<HookAnswer> {
    const { redact } = this.#options;
    const texts = ["reason", "stop", "context", "message", "updatedOutput"] as const;
    const clean: Record<string, string> = {};
    for (const name of texts) {
      const text = answer[name];
      if (text !== undefined) clean[name] = await redact(text);
    }
    return { ...answer, ...clean };
  }
}

function answerOf({ event, handler }: ConfiguredHook, end: HookEnd): HookAnswer {
  if (end.kind === "ended") return readAnswer(event, end.output);
  if (end.kind === "failed") return { problem: end.message };
  if (end.kind !== "judged" || (handler.type !== "prompt" && handler.type !== "agent")) return {};
  return readVerdict(event, end.text, handler);
}

function environmentOf(end: HookEnd): string | undefined {
  return end.kind === "ended" ? end.output.environment : undefined;
}

function isFileName(name: string): boolean {
  return name !== "" && name !== "*" && !name.includes("\0");
}

function asksModel({ handler }: ConfiguredHook): boolean {
  return handler.type === "prompt" || handler.type === "agent";
}

function shown({ handler }: ConfiguredHook): string {
  const line = safeLine(shownHandler(handler));
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS - 1)}…` : line;
}

function withoutProblem({ problem: _, ...answer }: HookAnswer): HookAnswer {
  return answer;
}

function late(event: HookEvent, command: string): HookAnswer {
  return readAnswer(event, { exitCode: 2, stdout: "", stderr: `The hook ${command} did not end in time.` });
}

const MOST_VARIABLE = 32_000;

/** Returns the variables of a call for its hooks. Not documented, and still what many published hooks read instead of stdin. */
function callVariables(view: ToolView | undefined): Readonly<Record<string, string>> {
  if (view === undefined) return {};
  const { file_path: file, command } = view.input;
  const found: Record<string, unknown> = {
    ...{ CLAUDE_TOOL_NAME: view.names[0], CLAUDE_TOOL_INPUT: JSON.stringify(view.input) },
    ...{ CLAUDE_TOOL_FILE_PATH: file, CLAUDE_FILE_PATHS: file, CLAUDE_TOOL_COMMAND: command },
  };
  // The kernel refuses a program with longer variables; a NUL ends one.
  const fits = (value: unknown) => typeof value === "string" && value.length <= MOST_VARIABLE && !value.includes("\0");
  return Object.fromEntries(Object.entries(found).filter(([, value]) => fits(value))) as Record<string, string>;
}
