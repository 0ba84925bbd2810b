/** A Markdown file that begins with fields between two lines `---`: a skill, a command, an agent type. */
import { parseYaml, YamlError, type YamlMap, type YamlProblem, type YamlValue } from "./yaml.js";

export interface FrontMatter {
  readonly fields: YamlMap;
  /** The text after the fields; the whole text if there are none. */
  readonly body: string;
  /** Problems for which a strict reader would refuse the text; this reader still returns the fields. */
  readonly problems: readonly YamlProblem[];
  /** `none`: the text has no front matter. */
  readonly state: "read" | "none";
}

/** `kind`: the fault, for a reader that has its own wording. */
export interface FrontMatterFault {
  readonly fault: "unclosed" | "yaml" | "no mapping";
  /** A sentence without its full stop. */
  readonly message: string;
}

const OPENING = /^\s*---[ \t]*\n/;
const CLOSING = /^---[ \t]*$/m;

export function readFrontMatter(source: string): FrontMatter | FrontMatterFault {
  const text = source.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const opening = OPENING.exec(text)?.[0];
  if (opening === undefined) return { fields: new Map(), body: text, problems: [], state: "none" };
  const rest = text.slice(opening.length);
  const closing = CLOSING.exec(rest);
  if (closing === null) return { fault: "unclosed", message: "The front matter is not closed with ---" };
  const body = rest.slice(closing.index + closing[0].length).replace(/^\n/, "");
  const firstLine = opening.split("\n").length;
  try {
    const { value, problems } = parseYaml(rest.slice(0, closing.index), firstLine);
    if (value === null) return { fields: new Map(), body, problems, state: "read" };
    if (!isYamlMap(value)) return { fault: "no mapping", message: "The front matter is not a list of 'NAME: VALUE'" };
    return { fields: value, body, problems, state: "read" };
  } catch (error) {
    if (error instanceof YamlError) return { fault: "yaml", message: error.message };
    throw error;
  }
}

export function isYamlMap(value: YamlValue | undefined): value is YamlMap {
  return value instanceof Map;
}

/** The text of a field on one line; undefined if it is absent, blank or not text. */
export function lineOf(fields: YamlMap, name: string): string | undefined {
  const value = fields.get(name);
  if (typeof value !== "string") return undefined;
  const line = value.replace(/\s+/g, " ").trim();
  return line === "" ? undefined : line;
}

/** `argument-hint`: people mean text by `[file]`, but YAML reads a list. */
export function argumentHintOf(fields: YamlMap): string | undefined {
  const value = fields.get("argument-hint");
  return Array.isArray(value) ? `[${value.map(String).join(", ")}]` : lineOf(fields, "argument-hint");
}

/** `true`, `yes`, `on` and `1`, and their opposites; undefined for any other value. */
export function flagOf(fields: YamlMap, name: string): boolean | undefined {
  const value = fields.get(name);
  if (typeof value !== "string") return undefined;
  if (/^(true|yes|on|1)$/i.test(value.trim())) return true;
  return /^(false|no|off|0)$/i.test(value.trim()) ? false : undefined;
}

/** A list of words: a YAML list, or text with commas or else spaces between them, but not within brackets: `Bash(git *), Read`. */
export function wordsOf(fields: YamlMap, name: string): readonly string[] {
  const value = fields.get(name);
  if (Array.isArray(value)) return value.filter((word): word is string => typeof word === "string" && word !== "");
  if (typeof value !== "string") return [];
  const words = splitOutside(value, ",");
  return (words.length > 1 ? words : splitOutside(value, " ")).map((word) => word.trim()).filter((word) => word !== "");
}

function splitOutside(text: string, separator: string): readonly string[] {
  const words: string[] = [];
  let depth = 0;
  let word = "";
  for (const character of text.replace(/\s+/g, " ")) {
    if ("({[".includes(character)) depth++;
    if (")}]".includes(character)) depth--;
    if (character === separator && depth <= 0) {
      words.push(word);
      word = "";
    } else word += character;
  }
  return [...words, word];
}
