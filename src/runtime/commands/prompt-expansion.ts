/** Commands that stand for a prompt: hooks see the command before it becomes the prompt, and can refuse it. */
import { type CommandContext, type CommandResult, refuse } from "../../commands/command.js";
import type { SessionEvents } from "../parts/event-hooks.js";

export interface PromptExpansion {
  /** For hooks: without the slash, and without the namespace of skills. */
  readonly name: string;
  /** The command as the user types it, if it differs. */
  readonly typed?: string;
  /** The text after the name. */
  readonly line: string;
  readonly type?: "slash_command" | "mcp_prompt";
  /** Where the command comes from. */
  readonly source: "built-in" | "user" | "project" | "mcp";
}

/** The names that existing hooks know. */
const SOURCES = { "built-in": "builtin", user: "userSettings", project: "projectSettings", mcp: "mcp" } as const;

export interface ExpansionPlace {
  readonly events: SessionEvents;
  readonly context: Pick<CommandContext, "signal">;
  /** Makes the prompt. */
  readonly expand: () => CommandResult | Promise<CommandResult>;
}

export async function hookedPrompt(
  { name, line, source, typed = name, type = "slash_command" }: PromptExpansion,
  { events, context, expand }: ExpansionPlace,
): Promise<CommandResult> {
  if (!events.has("UserPromptExpansion")) return expand();
  const input = {
    expansion_type: type,
    command_name: name,
    command_args: line,
    command_source: SOURCES[source],
    prompt: `/${typed}${line === "" ? "" : ` ${line}`}`,
  };
  const answer = await events.fire("UserPromptExpansion", { subject: name, input, signal: context.signal });
  if (answer.refuses || answer.stop !== undefined)
    return refuse(`A hook refused /${typed}: ${answer.stop ?? answer.reason ?? "it gave no reason."}`);
  const result = await expand();
  if ("turn" in result && result.turn !== undefined) events.keep("UserPromptExpansion", answer.context);
  return result;
}
