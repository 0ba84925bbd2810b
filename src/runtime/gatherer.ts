/**
 * Joins the commands that give the model context, and those that write its answers, with tools and permissions.
 *
 * 1. The user typed the command, so Oxbow does not ask. Path permissions and the blocklist still apply, and the workspace is the limit.
 * 2. Secrets are removed, and text from files and programs is marked before the model gets it.
 */
import { resolve } from "node:path";
import { capText } from "../base/cap-text.js";
import { groupDigits } from "../base/group-digits.js";
import type { WindowFacts } from "../context/compaction/window-parts.js";
import type { Gathering, TypedCall } from "../context/pinned/commands.js";
import type { Tool } from "../engine/ports.js";
import { type CommandResult, refuse } from "../feature/command.js";
import { resultText } from "../protocol/content.js";
import type { EventPayloads } from "../protocol/events.js";
import type { JsonObject } from "../protocol/json.js";
import type { Law, Verdict } from "../security/permissions/verdict.js";
import { MARKER } from "../security/redact/marker.js";
import type { AnswerPlace, AnswerQuestion } from "../tools/answer/commands.js";
import { CATALOG } from "../tools/catalog.js";
import type { InstructionFile } from "./content/instruction-files.js";
import { type Opening, runOf } from "./opening.js";

/** Rules that apply even to the user's own commands. */
const BINDING: ReadonlySet<Law> = new Set(["path permission", "blocklist", "boundary", "safe mode"]);
const TOOLS = {
  read: CATALOG.read,
  list: CATALOG.ls,
  find: CATALOG.glob,
  search: CATALOG.grep,
  run: CATALOG.bash,
} as const;
const MOST_CHARACTERS = 100_000;
const SHOWN_CHARACTERS = 4_000;

export class Gatherer implements Gathering, AnswerPlace {
  readonly #opening: Opening;

  constructor(opening: Opening) {
    this.#opening = opening;
  }

  get pinned() {
    return this.#opening.built.get("pinned");
  }

  get gathered() {
    return this.#opening.built.get("gathered");
  }

  get conversation() {
    return runOf(this.#opening).conversation;
  }

  workspace() {
    return this.#opening.built.get("toolbox").workspace();
  }

  isRedacted(text: string): boolean {
    return MARKER.test(text);
  }

  async confirm({ files, ...question }: AnswerQuestion, signal: AbortSignal): Promise<boolean | undefined> {
    const { person, engine } = this.#opening;
    if (!person.present()) return undefined;
    const call = engine.ids.next("call");
    const asked = { call, tool: "an answer", args: { files }, ...question, once_only: true } as const;
    return (await person.ask(asked, signal)).decision !== "deny";
  }

  async windowFacts(): Promise<WindowFacts> {
    const { built, engine, current } = this.#opening;
    const sections = (current.parts ?? []).flatMap((part) => part.promptSection?.("full") ?? []);
    const facts = await built.get("compaction").windowFacts(runOf(this.#opening));
    return { ...facts, instructions: engine.content?.instructions ?? "", sections: sections.join("\n\n") };
  }

  async instructions() {
    const { listInstructions, wantedSources } = await import("./content/instruction-files.js");
    const { instructionState, shownPath } = await import("./commands/sources.js");
    const { loaded, variables, root, content } = this.#opening.engine;
    const place = { loaded, variables, root };
    const has = (content?.files ?? []).map((path): InstructionFile => ({ path: resolve(root, path), state: "read" }));
    const all = await listInstructions(place);
    const others = all.filter((file) => file.state !== "read");
    const files = [...has, ...others.filter(({ path }) => !has.some((file) => file.path === path))];
    const wanted = wantedSources(files, place);
    const lines = files.map((file) => `${shownPath(file.path, place)}  ${instructionState(file)}`);
    return { files, lines: wanted === undefined ? lines : [...lines, `To read all of them: ${wanted}`] };
  }

  /** Runs the tool and keeps its text for the next input. */
  async gather(call: TypedCall, signal: AbortSignal): Promise<CommandResult> {
    const found = await this.call(call, signal);
    if ("problem" in found) return refuse(found.problem);
    await this.keep(call.command, found.text);
    const answer = this.answer(call.command, found.text);
    // A script stops there.
    return found.hasFailed ? { ...answer, exitCode: 1 } : answer;
  }

  /** For the model, marked as text from outside. */
  async keep(command: string, text: string): Promise<void> {
    const outside = this.#opening.built.get("outside");
    const mark = outside.wraps ? await outside.wrapper() : (words: string) => words;
    this.gathered.add(command, mark(capText(text, MOST_CHARACTERS, "give the model a smaller part"), command));
  }

  answer(command: string, text: string): CommandResult {
    const shown = capText(text, SHOWN_CHARACTERS, "the model gets all of it");
    const note = `The model gets this with your next input (${groupDigits(text.length)} characters).`;
    return { text: `${shown.trimEnd()}\n\n${note}`, value: { command, text } };
  }

  async call(
    { command, does, args, onlyReads }: TypedCall,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly hasFailed: boolean } | { readonly problem: string }> {
    const { name } = TOOLS[does];
    const tool = await this.#opening.built.get("toolbox").open(name);
    const refusal = await this.refusalOf(tool, args);
    if (refusal !== undefined) return { problem: refusal };
    const change = onlyReads ? await this.#changeOf(tool, args) : undefined;
    if (change !== undefined) return { problem: `${command} is not run: ${change} /run runs any command.` };
    const run = runOf(this.#opening);
    // Reading changes nothing; a command may, so the audit has it, as it has `!COMMAND`.
    if (does === "run") this.#record(name, args, { decision: "allow_once", decided_by: "person" });
    const outcome = await run.aside((aside) =>
      tool.run(args, { signal: AbortSignal.any([signal, aside]), byPerson: true, progress: () => {} }),
    );
    const { redact } = await import("../security/redact/redact.js");
    const text = redact(resultText(outcome.content));
    // The model should see the output of a failed command.
    const hasFailed = outcome.status !== "ok";
    return !hasFailed || does === "run" ? { text, hasFailed } : { problem: text };
  }

  /** Tells why the user's own rules do not allow it. The audit has each refusal. */
  async refusalOf(
    tool: Pick<Tool, "name" | "set" | "kind" | "mutating">,
    args: JsonObject,
  ): Promise<string | undefined> {
    const { engine } = await this.#opening.built.get("permissions").parts();
    const verdict = await engine.test({ tool, args });
    if (verdict.decision !== "deny" || !BINDING.has(verdict.law)) return undefined;
    const { law, about, decidedBy } = verdict;
    // The reason is for a model, which can only ask.
    const reason =
      law === "boundary" && about !== undefined
        ? `${about} is outside the workspace. 'extra_roots' in your settings adds a folder.`
        : verdict.reason;
    return this.#refused(tool.name, args, { decidedBy, reason });
  }

  /** Tells why a command does more than read. */
  async #changeOf(tool: Tool, args: JsonObject): Promise<string | undefined> {
    const { engine } = await this.#opening.built.get("permissions").parts();
    const { command } = await engine.factsOf({ tool, args });
    return command === undefined || command.verdict === "read-only" ? undefined : command.reason;
  }

  /** Tells why a file may not be written: a rule of the user, the workspace, or a guarded path. The audit has each refusal. */
  async writeRefusalOf(path: string, content: string): Promise<string | undefined> {
    const args = { path, content };
    const refusal = await this.#fileRefusalOf("write", args);
    if (refusal !== undefined) return refusal;
    const { engine } = await this.#opening.built.get("permissions").parts();
    const { law, decidedBy, reason } = await engine.test({ tool: CATALOG.write, args });
    // A file that other programs run or obey: the user edits it directly, or lets the model write it.
    if (law !== "guarded") return undefined;
    return this.#refused("write", args, { decidedBy, reason: `${path} is not written: ${reason}` });
  }

  /** Tells why a file may not be read: a rule of the user, or the workspace. */
  readRefusalOf(path: string): Promise<string | undefined> {
    return this.#fileRefusalOf("read", { path });
  }

  async #fileRefusalOf(access: "read" | "write", args: { readonly path: string }): Promise<string | undefined> {
    const refusal = await this.refusalOf(CATALOG[access], args);
    if (refusal !== undefined) return refusal;
    const outside = await (await this.workspace()).resolve(args.path, access).then(
      () => undefined,
      (error: Error) => error.message,
    );
    return outside === undefined
      ? undefined
      : this.#refused(access, args, { decidedBy: "workspace boundary", reason: outside });
  }

  #refused(tool: string, args: JsonObject, { decidedBy, reason }: Pick<Verdict, "decidedBy" | "reason">): string {
    this.#record(tool, args, { decision: "deny", decided_by: decidedBy, message: reason });
    return reason;
  }

  /** For the audit. The user sees the answer of the command, so clients show no call. */
  #record(
    tool: string,
    { content: _, ...args }: JsonObject,
    decided: Pick<Resolved, "decision" | "decided_by" | "message">,
  ): void {
    const run = runOf(this.#opening);
    run.bus.publish("PermissionResolved", { call: run.newCall(), tool, args, ...decided });
  }
}

type Resolved = EventPayloads["PermissionResolved"];
