/**
 * Runs built-in tools for commands that the user typed.
 *
 * 1. The user typed the command, so Oxbow does not ask. Path permissions and the blocklist still apply, and the workspace is the limit.
 * 2. Secrets are removed, and text from files and programs is marked before the model gets it.
 */
import { capText } from "../../../base/cap-text.js";
import { groupDigits } from "../../../base/group-digits.js";
import type { CommandResult } from "../../../commands/command.js";
import { refuse } from "../../../commands/command.js";
import type { Tool } from "../../../engine/ports.js";
import { resultText } from "../../../protocol/content.js";
import type { EventPayloads } from "../../../protocol/events.js";
import type { JsonObject } from "../../../protocol/json.js";
import type { Law, Verdict } from "../../../security/permissions/verdict.js";
import { CATALOG, type ToolName } from "../../../tools/catalog.js";
import { type Opening, runOf } from "../../opening.js";

export interface TypedCall {
  /** The label: `/read a.txt`. */
  readonly command: string;
  readonly tool: ToolName;
  readonly args: JsonObject;
}

/** Rules that apply even to the user's own commands. */
const BINDING: ReadonlySet<Law> = new Set(["path permission", "blocklist", "boundary", "safe mode"]);
const MOST_CHARACTERS = 100_000;
const SHOWN_CHARACTERS = 4_000;

export class Gatherer {
  readonly opening: Opening;

  constructor(opening: Opening) {
    this.opening = opening;
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
    const { outside, gathered } = this.opening.built.all();
    const mark = outside.wraps ? await outside.wrapper() : (words: string) => words;
    gathered.add(command, mark(capText(text, MOST_CHARACTERS, "give the model a smaller part"), command));
  }

  answer(command: string, text: string): CommandResult {
    const shown = capText(text, SHOWN_CHARACTERS, "the model gets all of it");
    const note = `The model gets this with your next input (${groupDigits(text.length)} characters).`;
    return { text: `${shown.trimEnd()}\n\n${note}`, value: { command, text } };
  }

  async call(
    { tool: name, args }: TypedCall,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly hasFailed: boolean } | { readonly problem: string }> {
    const tool = await this.opening.built.get("toolbox").open(name);
    const refusal = await this.refusalOf(tool, args);
    if (refusal !== undefined) return { problem: refusal };
    const run = runOf(this.opening);
    // Reading changes nothing; a command may, so the audit has it, as it has `!COMMAND`.
    if (name === "bash") this.#record(name, args, { decision: "allow_once", decided_by: "person" });
    const outcome = await run.aside((aside) =>
      tool.run(args, { signal: AbortSignal.any([signal, aside]), byPerson: true, progress: () => {} }),
    );
    const { redact } = await import("../../../security/redact/redact.js");
    const text = redact(resultText(outcome.content));
    // The model should see the output of a failed command.
    const hasFailed = outcome.status !== "ok";
    return !hasFailed || name === "bash" ? { text, hasFailed } : { problem: text };
  }

  /** Why the user's own rules do not allow it. The audit has each refusal. */
  async refusalOf(tool: Pick<Tool, "name" | "set" | "mutating">, args: JsonObject): Promise<string | undefined> {
    const { engine } = await this.opening.built.get("permissions").parts();
    const verdict = await engine.test({ tool, args });
    if (verdict.decision !== "deny" || !BINDING.has(verdict.law)) return undefined;
    return this.#refused(tool.name, args, verdict);
  }

  /** Why a file may not be written: a rule of the user, the workspace, or a guarded path. The audit has each refusal. */
  async writeRefusalOf(path: string, content: string): Promise<string | undefined> {
    const args = { path, content };
    const refusal = await this.#fileRefusalOf("write", args);
    if (refusal !== undefined) return refusal;
    const { engine } = await this.opening.built.get("permissions").parts();
    const { law, decidedBy, reason } = await engine.test({ tool: CATALOG.write, args });
    // A file that other programs run or obey: the user edits it directly, or lets the model write it.
    if (law !== "guarded") return undefined;
    return this.#refused("write", args, { decidedBy, reason: `${path} is not written: ${reason}` });
  }

  /** Why a file may not be read: a rule of the user, or the workspace. */
  readRefusalOf(path: string): Promise<string | undefined> {
    return this.#fileRefusalOf("read", { path });
  }

  async #fileRefusalOf(access: "read" | "write", args: { readonly path: string }): Promise<string | undefined> {
    const refusal = await this.refusalOf(CATALOG[access], args);
    if (refusal !== undefined) return refusal;
    const workspace = await this.opening.built.get("toolbox").workspace();
    const outside = await workspace.resolve(args.path, access).then(
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
    const run = runOf(this.opening);
    run.bus.publish("PermissionResolved", { call: run.newCall(), tool, args, ...decided });
  }
}

type Resolved = EventPayloads["PermissionResolved"];
