/** Converts a value to the type that a schema declares, where only one value can be meant. */
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.js";

/** Returns the value unchanged if it fits or if its meaning is not certain; undefined for null where null is no value. */
export function fitValue(schema: JsonObject, value: JsonValue): JsonValue | undefined {
  if (value === null) return typesOf(schema).includes("null") ? null : undefined;
  if (Array.isArray(schema.enum)) return fitChoice(schema.enum, value);
  for (const type of typesOf(schema)) {
    const fitting = fitType(type, schema, value);
    if (fitting !== undefined) return fitting;
  }
  return value;
}

function typesOf({ type }: JsonObject): readonly string[] {
  const types = Array.isArray(type) ? type : [type];
  return types.filter((each): each is string => typeof each === "string");
}

function fitChoice(choices: readonly JsonValue[], value: JsonValue): JsonValue {
  const [only] = Array.isArray(value) && value.length === 1 ? value : [value];
  if (typeof only !== "string" || choices.includes(only)) return only ?? value;
  const plain = plainChoice(only);
  return choices.find((each) => typeof each === "string" && plainChoice(each) === plain) ?? value;
}

function plainChoice(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");
}

function fitType(type: string, schema: JsonObject, value: JsonValue): JsonValue | undefined {
  switch (type) {
    case "string":
      return Array.isArray(value) && value.length === 1 ? asText(value[0]) : asText(value);
    case "integer":
    case "number":
      return fitNumber(schema, value);
    case "boolean":
      return fitBoolean(value);
    case "array":
      return fitList(schema, value);
    case "object":
      return isJsonObject(value) ? value : parsed(value, isJsonObject);
    default:
      return undefined;
  }
}

function asText(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function fitNumber({ minimum }: JsonObject, value: JsonValue): number | undefined {
  const isNumeral = typeof value === "string" && /^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(value);
  const number = isNumeral ? Number(value) : value;
  if (typeof number !== "number") return undefined;
  // Some harnesses count from 0.
  return number === 0 && minimum === 1 ? 1 : number;
}

function fitBoolean(value: JsonValue): boolean | undefined {
  const word = typeof value === "string" ? value.trim().toLowerCase() : value;
  if (word === true || word === "true" || word === 1) return true;
  return word === false || word === "false" || word === 0 ? false : undefined;
}

function fitList({ items }: JsonObject, value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) return value;
  const list = parsed(value, Array.isArray);
  if (list !== undefined) return list;
  const one = parsed(value, isJsonObject) ?? value;
  const wanted = isJsonObject(items) ? typesOf(items) : [];
  const isItem = isJsonObject(one) ? wanted.includes("object") : wanted.includes(typeof one);
  return isItem ? [one] : undefined;
}

/** The value of JSON text, if it is of the wanted kind. */
function parsed(value: JsonValue, isWanted: (value: JsonValue) => boolean): JsonValue | undefined {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return undefined;
  try {
    const inner = JSON.parse(value) as JsonValue;
    return isWanted(inner) ? inner : undefined;
  } catch {
    return undefined;
  }
}
