/** Runs the calls of the skill tool. */

import type { ToolOutcome } from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { skillList } from "./catalogue.js";
import type { Skill, SkillRegistry } from "./registry.js";
import type { Delimit } from "./skill-text.js";

export interface SkillToolPort {
  readonly registry: Pick<SkillRegistry, "list" | "find">;
  isActive(skill: Skill): boolean;
  /** The text of the skill, which is in use from now on. */
  activate(skill: Skill): Promise<string>;
  readonly delimit: Delimit;
}

const MOST_CHARACTERS = 60_000;
const LIST_CHARACTERS = 20_000;

export async function runSkillTool({ name, file }: JsonObject, port: SkillToolPort): Promise<ToolOutcome> {
  if (typeof name !== "string" || name.trim() === "") return answer(listed(port));
  const skill = port.registry.find(name.trim());
  // The user may start any skill; then the model may read its files, too.
  const isOffered = skill?.forModel === true || (skill !== undefined && port.isActive(skill));
  if (skill === undefined || !isOffered) return fault(`There is no skill '${name}'.\n${listed(port)}`);
  if (typeof file === "string" && file.trim() !== "") return readFile(skill, file.trim(), port);
  return answer(await port.activate(skill));
}

function listed(port: SkillToolPort): string {
  const skills = port.registry.list().filter(({ forModel }) => forModel);
  return skills.length === 0 ? "There are no skills." : `Skills:\n${skillList(skills, port.delimit, LIST_CHARACTERS)}`;
}

async function readFile(skill: Skill, path: string, { delimit }: SkillToolPort): Promise<ToolOutcome> {
  const file = skill.file(path);
  if (file === undefined) {
    const known = skill.files.length === 0 ? "It has none." : `It has: ${skill.files.slice(0, 100).join(", ")}`;
    return fault(`The skill '${skill.id}' has no approved file '${path}'. ${known}`);
  }
  const words = await file.read();
  if (words.includes("\0")) {
    const folder = await skill.folder();
    return answer(`${path} is binary.${folder === undefined ? "" : ` An approved copy is in ${folder}.`}`);
  }
  const cut =
    words.length > MOST_CHARACTERS ? `\n(${words.length - MOST_CHARACTERS} more characters are left out)` : "";
  const source = `skill ${skill.id}, ${path}`;
  return answer(delimit({ source, kind: "skill-file", text: words.slice(0, MOST_CHARACTERS) }) + cut);
}

function answer(words: string): ToolOutcome {
  return { status: "ok", content: [text(words)] };
}

function fault(words: string): ToolOutcome {
  return { status: "error", content: [text(words)] };
}
