/**
 * Checks a value against the part of JSON Schema that tool arguments use: type, properties, required, additionalProperties,
 * items, enum, const, anyOf/oneOf, minimum/maximum, lengths, pattern. Unknown keywords are ignored, as the standard requires.
 * Its messages name the field, the value and what was expected.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.js";
import { shorten } from "./cap-text.js";

/** More than a person or a model reads. A client could send millions of values that do not fit. */
const MOST_PROBLEMS = 20;

/** Returns the first problems, each one line; empty when the value fits. It stops at `MOST_PROBLEMS`. */
export function schemaProblems(schema: JsonValue | undefined, value: JsonValue | undefined, path = ""): string[] {
  if (!isJsonObject(schema)) return [];
  const at = path === "" ? "the arguments" : `"${path}"`;
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives)) {
    const attempts = alternatives.map((option) => schemaProblems(option, value, path));
    // The alternative that comes closest is most likely the one that was meant.
    return attempts.toSorted((a, b) => a.length - b.length)[0] ?? [];
  }
  if (Array.isArray(schema.enum) && !schema.enum.some((allowed) => sameJson(allowed, value))) {
    return [
      `${at} must be one of ${schema.enum.map((option) => JSON.stringify(option)).join(", ")}, got ${show(value)}`,
    ];
  }
  if (schema.const !== undefined && !sameJson(schema.const, value)) {
    return [`${at} must be ${JSON.stringify(schema.const)}, got ${show(value)}`];
  }
  const expected = expectedTypes(schema);
  if (expected.length > 0 && !expected.some((type) => hasType(type, value))) {
    return [`${at} must be ${expected.map(withArticle).join(" or ")}, got ${show(value)}`];
  }
  if (typeof value === "string") return stringProblems(schema, value, at);
  if (typeof value === "number") return numberProblems(schema, value, at);
  if (Array.isArray(value)) return arrayProblems(schema, value, { path, at });
  if (isJsonObject(value)) return objectProblems(schema, value, path);
  return [];
}

function expectedTypes(schema: JsonObject): readonly string[] {
  if (typeof schema.type === "string") return [schema.type];
  if (Array.isArray(schema.type)) return schema.type.filter((type): type is string => typeof type === "string");
  return [];
}

function hasType(type: string, value: JsonValue | undefined): boolean {
  switch (type) {
    case "object":
      return isJsonObject(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    default:
      return typeof value === type;
  }
}

function stringProblems(schema: JsonObject, value: string, at: string): string[] {
  const problems: string[] = [];
  if (typeof schema.minLength === "number" && value.length < schema.minLength) {
    problems.push(
      schema.minLength === 1 ? `${at} must not be empty` : `${at} must have at least ${schema.minLength} characters`,
    );
  }
  if (typeof schema.maxLength === "number" && value.length > schema.maxLength) {
    problems.push(`${at} must have at most ${schema.maxLength} characters, got ${value.length}`);
  }
  if (typeof schema.pattern === "string" && !new RegExp(schema.pattern, "u").test(value)) {
    problems.push(`${at} must match ${schema.pattern}, got ${show(value)}`);
  }
  return problems;
}

function numberProblems(schema: JsonObject, value: number, at: string): string[] {
  if (typeof schema.minimum === "number" && value < schema.minimum) {
    return [`${at} must be at least ${schema.minimum}, got ${value}`];
  }
  if (typeof schema.maximum === "number" && value > schema.maximum) {
    return [`${at} must be at most ${schema.maximum}, got ${value}`];
  }
  return [];
}

function arrayProblems(
  schema: JsonObject,
  value: readonly JsonValue[],
  { path, at }: { readonly path: string; readonly at: string },
): string[] {
  if (typeof schema.minItems === "number" && value.length < schema.minItems) {
    return [`${at} must have at least ${schema.minItems} item${schema.minItems === 1 ? "" : "s"}, got ${value.length}`];
  }
  if (typeof schema.maxItems === "number" && value.length > schema.maxItems) {
    return [`${at} must have at most ${schema.maxItems} items, got ${value.length}`];
  }
  const problems: string[] = [];
  if (!isJsonObject(schema.items)) return problems;
  for (const [index, item] of value.entries()) {
    problems.push(...schemaProblems(schema.items, item, `${path}[${index}]`));
    if (problems.length >= MOST_PROBLEMS) break;
  }
  return problems.slice(0, MOST_PROBLEMS);
}

function objectProblems(schema: JsonObject, value: JsonObject, path: string): string[] {
  const problems: string[] = [];
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const inside = (name: string) => (path === "" ? name : `${path}.${name}`);
  for (const name of Array.isArray(schema.required) ? schema.required : []) {
    if (typeof name !== "string" || (Object.hasOwn(value, name) && value[name] !== undefined)) continue;
    const wanted = isJsonObject(properties[name]) ? expectedTypes(properties[name]).join(" or ") : "";
    problems.push(`"${inside(name)}" is missing${wanted === "" ? "" : ` (${wanted})`}`);
  }
  const { additionalProperties: others } = schema;
  for (const name in value) {
    if (problems.length >= MOST_PROBLEMS) break;
    const inner = value[name];
    if (inner === undefined) continue;
    if (Object.hasOwn(properties, name)) problems.push(...schemaProblems(properties[name], inner, inside(name)));
    else if (others === false) {
      const known = Object.keys(properties).join(", ") || "no fields";
      problems.push(`"${shorten(inside(name), MOST_NAME)}" is not known; expected ${known}`);
    } else if (isJsonObject(others)) {
      problems.push(...schemaProblems(others, inner, shorten(inside(name), MOST_NAME)));
    }
  }
  return problems.slice(0, MOST_PROBLEMS);
}

function withArticle(type: string): string {
  if (type === "null") return "null";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

const MOST_SHOWN = 80;
const MOST_NAME = 200;

function show(value: JsonValue | undefined): string {
  return value === undefined ? "nothing" : shorten(jsonStart(value), MOST_SHOWN);
}

/** Returns the beginning of the value as JSON. The value may be far larger than what is shown. */
function jsonStart(value: JsonValue, most = 2 * MOST_SHOWN): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, most));
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const names = isList ? undefined : Object.keys(value);
  const count = names?.length ?? (value as readonly JsonValue[]).length;
  let text = isList ? "[" : "{";
  for (let at = 0; at < count; at++) {
    const name = names?.[at];
    if (at > 0) text += ",";
    if (name !== undefined) text += `${JSON.stringify(name.slice(0, most))}:`;
    if (text.length >= most) return text;
    const inner = name === undefined ? (value as readonly JsonValue[])[at] : (value as JsonObject)[name];
    text += jsonStart(inner ?? null, most - text.length);
  }
  return `${text}${isList ? "]" : "}"}`;
}

/** An `enum` or `const` of a schema is small: the value is compared as text only if both are lists or objects. */
function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const text = JSON.stringify(a);
  return jsonStart(b, text.length + 1) === text;
}
