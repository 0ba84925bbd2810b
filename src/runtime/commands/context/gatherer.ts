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
import { plainText } from "../../../protocol/content.js";
import type { JsonObject } from "../../../protocol/json.js";
import type { Law } from "../../../security/permissions/verdict.js";
import type { ToolName } from "../../../tools/catalog.js";
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
    const outcome = await run.aside((aside) =>
      tool.run(args, { signal: AbortSignal.any([signal, aside]), byPerson: true, progress: () => {} }),
    );
    const { redact } = await import("../../../security/redact/redact.js");
    const text = redact(plainText(outcome.content));
    // The model should see the output of a failed command.
    const hasFailed = outcome.status !== "ok";
    return !hasFailed || name === "bash" ? { text, hasFailed } : { problem: text };
  }

  /** Why the user's own rules do not allow it. */
  async refusalOf(tool: Pick<Tool, "name" | "set" | "mutating">, args: JsonObject): Promise<string | undefined> {
    const { engine } = await this.opening.built.get("permissions").parts();
    const verdict = await engine.test({ tool, args });
    return verdict.decision === "deny" && BINDING.has(verdict.law) ? verdict.reason : undefined;
  }
}
