/**
 * Reads a SKILL.md of the open Agent Skills specification leniently: it loads everything with a sensible meaning, and reports what
 * violates the specification. `validateSkill` is the strict reader.
 */
import { argumentHintOf, flagOf, isYamlMap, lineOf, readFrontMatter, wordsOf } from "../../base/front-matter.js";
import type { YamlMap } from "../../base/yaml.js";
import { readTriggers, type SkillTriggers } from "./triggers.js";

export interface SkillFacts {
  /** The name by which people and the model call it: the name of its folder. */
  readonly id: string;
  /** On one line, with `when_to_use` if the skill has it. */
  readonly description: string;
  readonly license?: string | undefined;
  readonly compatibility?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** Shown only: a skill never allows a call by itself. */
  readonly allowedTools: readonly string[];
  readonly argumentHint?: string | undefined;
  readonly triggers: SkillTriggers;
  /** The model may load it itself. */
  readonly forModel: boolean;
  /** It is a slash command. */
  readonly forPeople: boolean;
}

export interface ReadSkill {
  readonly facts: SkillFacts;
  readonly body: string;
  /** Sentences without their full stop; the skill is still loaded. */
  readonly problems: readonly string[];
}

const NAME_LIMIT = 64;
export const DESCRIPTION_LIMIT = 1024;
export const COMPATIBILITY_LIMIT = 500;

/** `folder`: the name of the folder that holds it. */
export function readSkill(text: string, folder: string): ReadSkill | { readonly refused: string } {
  const found = readFrontMatter(text);
  if ("fault" in found) return { refused: found.message };
  const { fields } = found;
  const description = lineOf(fields, "description");
  if (description === undefined) return { refused: "description is required" };
  const facts: SkillFacts = {
    id: skillId(folder),
    description: [description, lineOf(fields, "when_to_use")].filter((part) => part !== undefined).join(" "),
    license: lineOf(fields, "license"),
    compatibility: lineOf(fields, "compatibility"),
    argumentHint: argumentHintOf(fields),
    metadata: metadataOf(fields),
    allowedTools: wordsOf(fields, "allowed-tools"),
    triggers: readTriggers(fields),
    forModel: flagOf(fields, "disable-model-invocation") !== true,
    forPeople: flagOf(fields, "user-invocable") !== false,
  };
  return { facts, body: found.body.trim(), problems: [...problemsOf(fields, folder), ...yamlProblems(found.problems)] };
}

/** Contains only characters that can be typed as one word. */
function skillId(folder: string): string {
  return folder
    .normalize("NFKC")
    .trim()
    .replace(/[\s\p{Cc}\p{Cf}:"'`<>&\\/]+/gu, "-");
}

function problemsOf(fields: YamlMap, folder: string): readonly string[] {
  const problems: string[] = [];
  const name = lineOf(fields, "name");
  if (name !== undefined) problems.push(...nameProblems(name, folder));
  const description = fields.get("description");
  if (typeof description === "string" && [...description].length > DESCRIPTION_LIMIT) {
    problems.push(`description exceeds ${DESCRIPTION_LIMIT} characters`);
  }
  const compatibility = fields.get("compatibility");
  if (typeof compatibility === "string" && [...compatibility].length > COMPATIBILITY_LIMIT) {
    problems.push(`compatibility exceeds ${COMPATIBILITY_LIMIT} characters`);
  }
  return problems;
}

/** Checks a name by the specification: lowercase letters, digits and single hyphens, the same as its folder's. Sentences without their full stop. */
export function nameProblems(written: string, folder: string): readonly string[] {
  const name = written.trim().normalize("NFKC");
  const problems: string[] = [];
  const length = [...name].length;
  if (length > NAME_LIMIT)
    problems.push(`name exceeds ${NAME_LIMIT} characters (the character limit): it has ${length}`);
  if (name !== name.toLowerCase()) problems.push(`name '${name}' must be lowercase`);
  if (/^-|-$/.test(name)) problems.push("name cannot start or end with a hyphen");
  if (name.includes("--")) problems.push("name cannot contain consecutive hyphens");
  if (!/^[\p{L}\p{N}-]+$/u.test(name)) {
    problems.push(`name '${name}' contains invalid characters: only letters, digits and hyphens are allowed`);
  }
  if (folder.normalize("NFKC") !== name) {
    problems.push(`name does not match parent directory: '${folder}' must match skill name '${name}'`);
  }
  return problems;
}

function yamlProblems(problems: readonly { readonly line: number; readonly message: string }[]): readonly string[] {
  return problems.map(({ line, message }) => `${message} (line ${line})`);
}

/** The specification has text for values; a number stays as it was written. */
function metadataOf(fields: YamlMap): Readonly<Record<string, string>> {
  const metadata = fields.get("metadata");
  if (!isYamlMap(metadata)) return {};
  return Object.fromEntries([...metadata].flatMap(([key, value]) => (typeof value === "string" ? [[key, value]] : [])));
}
