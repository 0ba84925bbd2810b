/** Decides whether a value is what a scenario expects; says where it differs. */
import { shorten } from "../../../base/cap-text.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";

/** The first difference, as a sentence; undefined if it fits. */
export function difference(expected: JsonValue, actual: JsonValue | undefined, path = ""): string | undefined {
  const at = path === "" ? "the value" : path;
  if (isJsonObject(expected)) {
    const special = specialDifference(expected, actual, at);
    if (special !== NOT_SPECIAL) return special;
    if (!isJsonObject(actual)) return `${at} is ${show(actual)}, expected an object`;
    for (const [name, inner = null] of Object.entries(expected)) {
      const found = difference(inner, actual[name], path === "" ? name : `${path}.${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return `${at} is ${show(actual)}, expected a list`;
    if (actual.length !== expected.length) return `${at} has ${actual.length} items, expected ${expected.length}`;
    for (const [index, inner] of expected.entries()) {
      const found = difference(inner, actual[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return expected === actual ? undefined : `${at} is ${show(actual)}, expected ${show(expected)}`;
}

const NOT_SPECIAL = Symbol("not special");

function specialDifference(
  expected: JsonObject,
  actual: JsonValue | undefined,
  at: string,
): string | undefined | typeof NOT_SPECIAL {
  const { $type: type, $contains: part, $matches: pattern, $absent: absent, $not: not } = expected;
  if (absent === true) return actual === undefined ? undefined : `${at} is ${show(actual)}, expected nothing`;
  if (not !== undefined) return difference(not, actual) === undefined ? `${at} is ${show(actual)}` : undefined;
  if (typeof type === "string") {
    return typeOf(actual) === type ? undefined : `${at} is ${show(actual)}, expected a ${type}`;
  }
  if (typeof pattern === "string") {
    const fits = typeof actual === "string" && new RegExp(pattern, "u").test(actual);
    return fits ? undefined : `${at} is ${show(actual)}, expected text like ${pattern}`;
  }
  if (part === undefined) return NOT_SPECIAL;
  if (typeof actual === "string" && typeof part === "string" && actual.includes(part)) return undefined;
  if (Array.isArray(actual) && actual.some((item) => difference(part, item) === undefined)) return undefined;
  return `${at} is ${show(actual)}, expected it to contain ${show(part)}`;
}

function typeOf(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return "list";
  return value === null ? "null" : typeof value;
}

export function show(value: JsonValue | undefined): string {
  const text = JSON.stringify(value) ?? "missing";
  return shorten(text, 300);
}

/** The value at `a.b.0`; undefined if there is none. */
export function valueAt(value: JsonValue | undefined, path: string): JsonValue | undefined {
  let current = value;
  for (const name of path === "" ? [] : path.split(".")) {
    if (Array.isArray(current)) current = current[Number(name)];
    else if (isJsonObject(current) && Object.hasOwn(current, name)) current = current[name];
    else return undefined;
  }
  return current;
}
