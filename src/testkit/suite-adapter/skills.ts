/** `validate_skill`: whether the skill in a folder fits the specification. */
import { validateSkillFolder } from "../../context/skills/validate-skill.js";
import type { JsonObject } from "../../protocol/json.js";

export function validateSkill({ dir }: JsonObject): JsonObject {
  const errors = validateSkillFolder(String(dir));
  return { valid: errors.length === 0, errors };
}
