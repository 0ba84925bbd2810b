/** `oxbow session rerun`: makes the copy and runs its turns, one after the other. */
import { safeText } from "../../../base/terminal-text.js";
import { UsageError } from "../../../base/usage-error.js";
import type { CommandArguments } from "../../../feature/command.js";
import type { ParsedFlags } from "../../../feature/flags.js";
import type { InputContent, MediaBlock } from "../../../protocol/content.js";
import { discardUnused, prepare } from "../../../runtime/sessions/rerun.js";
import { EXIT } from "../../exit-codes.js";
import { printMessage } from "../../print-message.js";
import { type OpenSessions, openSessions } from "./open-sessions.js";
import { resuming } from "./resume.js";

export async function rerun(
  args: CommandArguments,
  { flags, sessions }: { readonly flags: ParsedFlags; readonly sessions: OpenSessions },
): Promise<number> {
  if (flags.has("json")) throw new UsageError("Use --output-format json for the answers as JSON.");
  const { stores, variables } = sessions;
  const { id, cwd, inputs, notes } = await prepare(args, sessions);
  const choice = await stores.choice();
  // The run opens the store itself.
  await sessions.close();
  printMessage(`${id} works in ${safeText(cwd)}.`);
  for (const note of notes) printMessage(safeText(note));
  const there: Record<string, string> = choice.kind === "files" ? { cwd, store: `files:${choice.folder}` } : { cwd };
  const { runInputs } = await import("../run.js");
  const [first = [], ...rest] = inputs;
  const prompt = args.flag("prompt");
  const all =
    prompt === undefined ? inputs : [[{ type: "text" as const, text: prompt }, ...first.filter(isMedia)], ...rest];
  const run = runInputs(within(resuming(flags, id, []), there), all.map(asPrompt), variables);
  const exit = await run.catch(async (error: unknown) => {
    const again = await openSessions(flags, variables);
    await discardUnused(id, again).finally(again.close);
    throw error;
  });
  const original = args.text("ID") ?? "";
  if (exit === EXIT.answered) printMessage(`oxbow session compare ${original} ${id} shows both.`);
  return exit;
}

function asPrompt(input: readonly InputContent[]) {
  const texts = input.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return { prompt: texts.join("\n"), media: input.filter(isMedia) };
}

function isMedia(block: InputContent): block is MediaBlock {
  return block.type !== "text";
}

/** The flags with these values. */
function within(flags: ParsedFlags, values: Readonly<Record<string, string>>): ParsedFlags {
  return {
    ...flags,
    has: (name) => Object.hasOwn(values, name) || flags.has(name),
    text: (name) => (Object.hasOwn(values, name) ? values[name] : flags.text(name)),
  };
}
