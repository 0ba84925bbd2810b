/** Commands that stand for a prompt: hooks see the command before it becomes the prompt, and can refuse it. */
import { type CommandResult, refuse } from "../../feature/command.js";
import type { PromptCommand } from "../../feature/part.js";
import type { SessionEvents } from "../parts/event-hooks.js";

/** The names that existing hooks know. */
const SOURCES = { "built-in": "builtin", user: "userSettings", project: "projectSettings", mcp: "mcp" } as const;

export interface ExpansionPlace {
  readonly events: SessionEvents;
  /** Makes the prompt. */
  readonly expand: () => CommandResult | Promise<CommandResult>;
}

export async function hookedPrompt(
  { name, line, source, typed = name, type = "slash_command", signal }: PromptCommand,
  { events, expand }: ExpansionPlace,
): Promise<CommandResult> {
  if (!events.has("UserPromptExpansion")) return expand();
  const input = {
    expansion_type: type,
    command_name: name,
    command_args: line,
    command_source: SOURCES[source],
    prompt: `/${typed}${line === "" ? "" : ` ${line}`}`,
  };
  const answer = await events.fire("UserPromptExpansion", { subject: name, input, signal });
  if (answer.refuses || answer.stop !== undefined)
    return refuse(`A hook refused /${typed}: ${answer.stop ?? answer.reason ?? "it gave no reason."}`);
  const result = await expand();
  if ("turn" in result && result.turn !== undefined) events.keep("UserPromptExpansion", answer.context);
  return result;
}
