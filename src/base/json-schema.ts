/**
 * Checks a value against the part of JSON Schema that tool arguments use: type, properties, required, additionalProperties,
 * items, enum, const, anyOf/oneOf, minimum/maximum, lengths, pattern. Unknown keywords are ignored, as the standard requires.
 * Its messages name the field, the value and what was expected.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.js";
import { shorten } from "./cap-text.js";

/** The problems found, each one line; empty when the value fits. */
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
  return value.flatMap((item, index) => schemaProblems(schema.items, item, `${path}[${index}]`));
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
  for (const [name, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    if (Object.hasOwn(properties, name)) problems.push(...schemaProblems(properties[name], inner, inside(name)));
    else if (schema.additionalProperties === false) {
      problems.push(`"${inside(name)}" is not known; expected ${Object.keys(properties).join(", ") || "no fields"}`);
    }
  }
  return problems;
}

function withArticle(type: string): string {
  if (type === "null") return "null";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function show(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  const shown = JSON.stringify(value);
  return shorten(shown, 80);
}

function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
