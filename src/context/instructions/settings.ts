/** Settings of the text that every request begins with. */
import { UsageError } from "../../base/usage-error.js";
import { names, type Setting, type SettingReader, wholeNumber } from "../../feature/setting.js";
import { type PromptVariants, readPromptVariants, textOrFile } from "./prompt-variants.js";

export interface InstructionSettings {
  readonly system_prompt: Setting<string | undefined>;
  readonly prompt_variants: Setting<PromptVariants>;
  /** A text for the model before the instruction files, with any system prompt. */
  readonly prompt_header: Setting<string | undefined>;
  /** Instruction files to load, in this order, from each folder. */
  readonly context_sources: Setting<readonly string[]>;
  /** The size limit of all of them. */
  readonly context_bytes: Setting<number>;
}

export function readInstructionSettings(from: SettingReader): InstructionSettings {
  return {
    system_prompt: from.pick({
      key: "system_prompt",
      flag: "system-prompt",
      fallback: undefined,
      read: textOrFile,
    }),
    prompt_variants: readPromptVariants(from),
    prompt_header: from.pick<string | undefined>({
      key: "prompt_header",
      fallback: undefined,
      read: (text) => text.trim() || undefined,
      project: "any",
    }),
    context_sources: from.pick<readonly string[]>({
      key: "context_sources",
      fallback: ["AGENTS.md | CLAUDE.md"],
      read: contextSources,
      project: "any",
    }),
    context_bytes: from.pick({
      key: "context_bytes",
      fallback: 32 * 1024,
      read: wholeNumber,
      project: "any",
    }),
  };
}

function contextSources(text: string): readonly string[] {
  const listed = names(text);
  const all = listed.flatMap((name) => name.split("|").map((each) => each.trim()));
  const wrong = all.find((name) => name === "" || /^[/~]|^[A-Za-z]:|\\|(^|\/)\.\.?(\/|$)/.test(name));
  if (wrong !== undefined) throw new UsageError(`expected names of files in the project's folders, got "${wrong}".`);
  return listed;
}
