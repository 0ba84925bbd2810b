/** Settings of the text that every request begins with. */

import { names, textOrNone, wholeNumber } from "../../base/read-value.js";
import { UsageError } from "../../base/usage-error.js";
import { type SettingsOf, setting, tables } from "../../feature/setting.js";
import { type PromptVariant, readVariant, readVariants, textOrFile } from "./prompt-variants.js";

export const instructionSettings = {
  system_prompt: setting({
    about: "replaces Oxbow's own system prompt",
    guide: "settings",
    flag: { value: "TEXT", help: "instructions instead of the built-in ones; @FILE reads them from a file" },
    read: textOrFile,
  }),
  prompt_header: setting({
    about: "text before the instruction files in the system prompt",
    guide: "settings",
    read: textOrNone,
    project: "any",
  }),
  prompt_variants: {
    ...tables({
      about: "[prompt_variants.NAME]: text that a part of the sessions gets in the system prompt",
      guide: "costs",
    }),
    take: readVariants,
    show: (variants: readonly PromptVariant[]) => variants.map(({ name }) => name).join(",") || "(none)",
  },
  prompt_variant: {
    ...setting({
      about: "the prompt variant of all sessions, or off",
      guide: "costs",
      flag: { value: "NAME", help: "the prompt variant of [prompt_variants] to use, or off" },
      read: textOrNone,
    }),
    take: readVariant,
  },
  /** In this order, from each folder. */
  context_sources: setting({
    about: "the names of the instruction files to read",
    guide: "instructions",
    fallback: ["AGENTS.md | CLAUDE.md | .claude/CLAUDE.md"],
    read: contextSources,
    project: "any",
  }),
  context_bytes: setting({
    about: "the most bytes of instructions",
    guide: "instructions",
    fallback: 32 * 1024,
    read: wholeNumber,
    project: "any",
  }),
};

export type InstructionSettings = SettingsOf<typeof instructionSettings>;

function contextSources(text: string): readonly string[] {
  const listed = names(text);
  const all = listed.flatMap((name) => name.split("|").map((each) => each.trim()));
  const wrong = all.find((name) => name === "" || /^[/~]|^[A-Za-z]:|\\|(^|\/)\.\.?(\/|$)/.test(name));
  if (wrong !== undefined) throw new UsageError(`expected names of files in the project's folders, got "${wrong}".`);
  return listed;
}
