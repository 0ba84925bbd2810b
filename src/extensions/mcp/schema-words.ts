/**
 * Separates the words in a schema from its structure. The interfaces of models take a schema as part of the program that they are
 * given, so words in it would arrive as Oxbow's own: they go where the description of the tool is delimited.
 *
 * 1. The structure has no text but names, types, and short values without a line break or a tag.
 * 2. Arguments are still checked with the whole schema.
 */
import { shorten } from "../../base/cap-text.js";
import { safeLine } from "../../base/terminal-text.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { KEYWORDS, type Kind } from "./schema-shape.js";

export interface SplitSchema {
  readonly structure: JsonObject;
  /** `path: what it is`, a line each. */
  readonly words: readonly string[];
}

const MOST_WORDS = 4000;
const MOST_VALUE = 100;
const MOST_DEFAULT = 200;
/** Named by what a model reads, or only known to some readers. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...["description", "title", "$comment", "examples", "default", "$schema", "$id", "patternProperties"],
]);

/** A tool is listed before each iteration. */
const known = new WeakMap<JsonObject, SplitSchema>();

export function splitSchema(schema: JsonObject): SplitSchema {
  let split = known.get(schema);
  if (split === undefined) {
    const words: string[] = [];
    const structure = structureOf(schema, "", words) as JsonObject;
    split = { structure, words: bounded(words) };
    known.set(schema, split);
  }
  return split;
}

function bounded(words: readonly string[]): readonly string[] {
  let left = MOST_WORDS;
  return words.filter((line) => {
    left -= line.length + 1;
    return left >= 0;
  });
}

function structureOf(schema: JsonValue, at: string, words: string[]): JsonValue {
  if (!isJsonObject(schema)) return schema;
  const said = wordsOf(schema);
  if (said !== "") words.push(`${at === "" ? "(all)" : at}: ${said}`);
  const kept = Object.entries(schema).flatMap(([key, value]): (readonly [string, JsonValue])[] => {
    const kind = KEYWORDS.get(key);
    if (kind === undefined || value === undefined || LEFT_OUT.has(key)) return [];
    const inner = innerOf(kind, value, { key, at, words });
    return inner === undefined ? [] : [[key, inner]];
  });
  return Object.fromEntries(kept);
}

interface Place {
  readonly key: string;
  readonly at: string;
  readonly words: string[];
}

/** Undefined for a value that is left out. */
function innerOf(kind: Kind, value: JsonValue, { key, at, words }: Place): JsonValue | undefined {
  switch (kind) {
    case "schema":
      return structureOf(value, key.includes("tems") || key === "contains" ? `${at}[]` : at, words);
    case "schemas":
      return (value as readonly JsonValue[]).map((each) => structureOf(each, at, words));
    case "properties":
    case "definitions": {
      const start = kind === "definitions" ? "#" : at === "" ? "" : `${at}.`;
      const inner = Object.entries(value as JsonObject).map(([name, each]) => [
        name,
        structureOf(each ?? true, `${start}${name}`, words),
      ]);
      return Object.fromEntries(inner) as JsonObject;
    }
    case "choices":
      return (value as readonly JsonValue[]).every(isPlain) ? value : undefined;
    case "choice":
      return isPlain(value) ? value : undefined;
    case "text":
      return /^\S{1,200}$/.test(value as string) ? value : undefined;
    default:
      return value;
  }
}

function isPlain(value: JsonValue): boolean {
  if (typeof value !== "string") return typeof value !== "object" || value === null;
  return value.length <= MOST_VALUE && !/[\p{Cc}\p{Cf}\u2028\u2029<]/u.test(value);
}

function wordsOf({ title, description, default: usual, enum: choices, const: only }: JsonObject): string {
  const said = [description, title].find((each) => typeof each === "string" && each.trim() !== "");
  const values = Array.isArray(choices) ? choices : only === undefined ? [] : [only];
  const isSaid = values.length > 0 && !values.every(isPlain);
  return [
    ...(said === undefined ? [] : [safeLine(String(said)).trim()]),
    ...(isSaid ? [`(one of ${shorten(safeLine(JSON.stringify(values)), MOST_VALUE * 4)})`] : []),
    ...(usual === undefined ? [] : [`(default ${shorten(safeLine(JSON.stringify(usual)), MOST_DEFAULT)})`]),
  ].join(" ");
}
