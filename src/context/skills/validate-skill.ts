/** Checks a skill strictly, as the reference validator of the specification does. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { readFrontMatter } from "../../base/front-matter.js";
import type { YamlMap } from "../../base/yaml.js";
import { COMPATIBILITY_LIMIT, DESCRIPTION_LIMIT, nameProblems } from "./read-skill.js";

const FIELDS: readonly string[] = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
/** The limit for a SKILL.md. */
const MOST_BYTES = 1024 * 1024;

/** Tells what is wrong with the skill in a folder; empty if it is valid. */
export function validateSkillFolder(path: string): readonly string[] {
  const full = resolve(path);
  const folder = basename(full) === "SKILL.md" ? dirname(full) : full;
  if (!existsSync(folder)) return [`Path does not exist: ${path}`];
  if (!statSync(folder).isDirectory()) return [`Not a directory: ${path}`];
  const names = readdirSync(folder);
  const name = ["SKILL.md", "skill.md"].find((wanted) => names.includes(wanted));
  if (name === undefined) return ["Missing required file: SKILL.md"];
  const file = statSync(join(folder, name));
  if (!file.isFile()) return [`${name} is not a file`];
  if (file.size > MOST_BYTES) return [`${name} is larger than ${MOST_BYTES} bytes`];
  return validateSkill(readFileSync(join(folder, name), "utf8"), basename(folder));
}

export function validateSkill(text: string, folder: string): readonly string[] {
  const found = readFrontMatter(text);
  if ("fault" in found) return [wordingOf(found)];
  if (found.state === "none" || /^\s/.test(text.replace(/^\uFEFF/, ""))) {
    return ["SKILL.md must start with YAML frontmatter (---)"];
  }
  const invalid = found.problems.map(({ message, line }) => `Invalid YAML: ${message} at line ${line}`);
  return [...invalid, ...fieldErrors(found.fields, folder)];
}

function wordingOf({ fault, message }: { readonly fault: string; readonly message: string }): string {
  if (fault === "unclosed") return "SKILL.md frontmatter is not properly closed with ---";
  return fault === "yaml" ? `Invalid YAML: ${message}` : "SKILL.md frontmatter must be a YAML mapping";
}

function fieldErrors(fields: YamlMap, folder: string): readonly string[] {
  const errors: string[] = [];
  const unknown = [...fields.keys()].filter((name) => !FIELDS.includes(name)).sort();
  if (unknown.length > 0)
    errors.push(`Unexpected fields: ${unknown.join(", ")}. Only ${FIELDS.join(", ")} are allowed.`);
  const name = fields.get("name");
  if (!fields.has("name")) errors.push("Missing required field: name");
  else if (!isFilled(name)) errors.push("Field 'name' must be a non-empty string");
  else errors.push(...nameProblems(name, folder));
  const description = fields.get("description");
  if (!fields.has("description")) errors.push("Missing required field: description");
  else if (!isFilled(description)) errors.push("Field 'description' must be a non-empty string");
  else if ([...description].length > DESCRIPTION_LIMIT) {
    errors.push(`Description exceeds the ${DESCRIPTION_LIMIT} character limit`);
  }
  return [...errors, ...optionalErrors(fields)];
}

function optionalErrors(fields: YamlMap): readonly string[] {
  const errors: string[] = [];
  const compatibility = fields.get("compatibility");
  if (fields.has("compatibility")) {
    if (!isFilled(compatibility)) errors.push("Field 'compatibility' must be a non-empty string");
    else if ([...compatibility].length > COMPATIBILITY_LIMIT) {
      errors.push(`Compatibility exceeds the ${COMPATIBILITY_LIMIT} character limit`);
    }
  }
  const metadata = fields.get("metadata");
  if (fields.has("metadata") && !(metadata instanceof Map)) errors.push("Field 'metadata' must be a mapping");
  return errors;
}

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
