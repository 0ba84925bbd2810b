/** `oxbow skills`: what skills a session in this folder would have, and a check of skills that people write. */
import { resolve } from "node:path";
import type { Variables } from "../../base/variables.js";
import { SKILLS_LIST, SKILLS_VALIDATE } from "../../commands/catalogue/skills.js";
import { COMMAND_EXIT, type Command } from "../../commands/command.js";
import type { ParsedFlags } from "../../commands/flags.js";
import { hasBuiltInSkills } from "../../runtime/settings/skill-packs.js";
import { openRoot } from "../../tools/files/workspace-root.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "skills",
  specs: [SKILLS_LIST, SKILLS_VALIDATE],
  about: "Lists and checks skills. In a session: /skills, /skills:NAME.",
  more: "A skill of a project counts only when it is approved ('oxbow ack').",
  open: async (flags, variables) => ({ commands: [listCommand(flags, variables), validateCommand()] }),
};

export const run = shellRunner(shell);

function listCommand(flags: ParsedFlags, variables: Variables): Command {
  return {
    ...SKILLS_LIST,
    run: async (_args, context) => {
      const [{ loadSettings }, { findExtensions }, { SkillRegistry }, { BUILT_IN_SKILLS }, { listing }] =
        await Promise.all([
          import("../../runtime/settings/settings.js"),
          import("../../runtime/content/find-extensions.js"),
          import("../../context/skills/registry.js"),
          import("../../context/skills/built-in.js"),
          import("../../runtime/commands/skills.js"),
        ]);
      const loaded = await loadSettings(flags, variables);
      const found = await findExtensions({
        loaded,
        variables,
        root: await openRoot(resolve(flags.text("cwd") ?? process.cwd())),
        color: false,
        width: 80,
        skipUnapproved: true,
        allowProjectHooks: true,
        notify: context.warn,
        granted: new Set(),
        since: Number.POSITIVE_INFINITY,
      });
      for (const note of found.notes) context.warn(note);
      const registry = await SkillRegistry.load({
        builtIn: hasBuiltInSkills(loaded.settings.skill_packs.value) ? BUILT_IN_SKILLS : [],
        skills: found.files.filter(({ kind }) => kind === "skill"),
        files: found.files.filter(({ kind }) => kind === "skill-file"),
      });
      return listing(registry, context);
    },
  };
}

function validateCommand(): Command {
  return {
    ...SKILLS_VALIDATE,
    run: async (args) => {
      const { validateSkillFolder } = await import("../../context/skills/validate-skill.js");
      const results = args.list("FOLDER").map((folder) => ({ folder, errors: validateSkillFolder(folder) }));
      const lines = results.flatMap(({ folder, errors }) =>
        errors.length === 0 ? [`${folder}: valid`] : errors.map((error) => `${folder}: ${error}`),
      );
      const isValid = results.every(({ errors }) => errors.length === 0);
      return { text: lines.join("\n"), value: results, ...(!isValid && { exitCode: COMMAND_EXIT.failed }) };
    },
  };
}
