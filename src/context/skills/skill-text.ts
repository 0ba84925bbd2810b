/** The text of a skill for the model: its instructions, and the list of its files. */
import type { Skill } from "./registry.js";

/** The files of a large skill are not all listed. */
const MOST_FILES = 100;
/** Longer instructions would fill the window; the model can read the rest. */
export const MOST_CHARACTERS = 60_000;

export async function skillText(skill: Skill, body?: string): Promise<string> {
  const text = body ?? (await skill.body());
  const cut = text.length > MOST_CHARACTERS;
  const shown = cut ? text.slice(0, MOST_CHARACTERS) : text;
  const notes = [
    ...(cut ? ["(The instructions are cut for their length.)"] : []),
    ...(skill.compatibility === undefined ? [] : [`Needs: ${skill.compatibility}`]),
    ...(await filesNote(skill)),
  ];
  return [`<skill name="${skill.id}">`, shown, ...notes, "</skill>"].join("\n");
}

async function filesNote(skill: Skill): Promise<readonly string[]> {
  if (skill.files.length === 0) return [];
  const listed = skill.files.slice(0, MOST_FILES).map((file) => `- ${file}`);
  const more = skill.files.length - listed.length;
  const folder = await skill.folder();
  return [
    "",
    `Files of this skill; read one with the skill tool (name and file):`,
    ...listed,
    ...(more > 0 ? [`- and ${more} more`] : []),
    ...(folder === undefined
      ? []
      : [
          `Approved copies of them are in ${folder}. Run its scripts from there; relative paths of the skill begin there.`,
        ]),
  ];
}
