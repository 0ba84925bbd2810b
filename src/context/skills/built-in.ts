/**
 * The skills that come with Oxbow. Their descriptions are here, so that a session that uses none of them reads no file; a test compares
 * them with the files.
 */
import type { SkillFacts } from "./read-skill.js";
import { BUILT_IN_PACK, type SkillSettings } from "./settings.js";

export interface BuiltInSkill {
  readonly facts: SkillFacts;
  /** The text of its SKILL.md. */
  load(): Promise<string>;
}

function builtIn(id: string, description: string, load: () => Promise<{ readonly default: string }>): BuiltInSkill {
  const facts: SkillFacts = {
    id,
    description,
    metadata: {},
    allowedTools: [],
    triggers: { keywords: [], globs: [] },
    forModel: true,
    forPeople: true,
  };
  return { facts, load: async () => (await load()).default };
}

export const BUILT_IN_SKILLS: readonly BuiltInSkill[] = [
  builtIn(
    "code-review",
    "Review a diff, branch or pull request.",
    () => import("../../../assets/skills/code-review/SKILL.md"),
  ),
  builtIn("commit", "Make a commit with a good message.", () => import("../../../assets/skills/commit/SKILL.md")),
  builtIn(
    "extend-oxbow",
    "Add tools, hooks, commands, skills or agents to Oxbow.",
    () => import("../../../assets/skills/extend-oxbow/SKILL.md"),
  ),
];

/** Returns those that the settings want. */
export function builtInSkills({ skill_packs }: SkillSettings): readonly BuiltInSkill[] {
  return skill_packs.value.includes(BUILT_IN_PACK) ? BUILT_IN_SKILLS : [];
}
