/** References within a JSON schema of a server. A reference out of the schema is never followed. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";

/** Finds what a reference of the schema leads to. Only own members count: every object inherits others. */
export function lookUp(schema: JsonObject, reference: string): JsonValue | undefined {
  let at: JsonValue | undefined = schema;
  const way = wayOf(reference);
  if (way === undefined) return undefined;
  for (const name of way) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as JsonObject)[name];
  }
  return at;
}

function wayOf(reference: string): readonly string[] | undefined {
  if (reference === "#") return [];
  if (!reference.startsWith("#/")) return undefined;
  try {
    const parts = decodeURIComponent(reference.slice(2)).split("/");
    return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  } catch {
    return undefined;
  }
}

/** To a schema within the whole, not only to further references in a circle. */
export function leadsSomewhere(reference: string, whole: JsonObject): boolean {
  const seen = new Set<string>();
  for (let next = reference; !seen.has(next); ) {
    seen.add(next);
    const target = lookUp(whole, next);
    if (typeof target === "boolean") return true;
    if (!isJsonObject(target ?? null)) return false;
    const { $ref: further, ...others } = target as JsonObject;
    if (typeof further !== "string" || Object.keys(others).some((key) => key !== "$defs")) return true;
    next = further;
  }
  return false;
}

/** Keywords whose schemas apply to the same value as the schema around them. */
const IN_PLACE = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

/**
 * A reference that comes back to itself without a step into the value: a check by it would not end. References that lead nowhere do
 * not count.
 */
export function endlessReference(schemas: readonly JsonObject[], whole: JsonObject): string | undefined {
  const done = new Set<JsonObject>();
  const under = new Set<JsonObject>();
  const visit = (schema: JsonValue | undefined, by: string): string | undefined => {
    if (!isJsonObject(schema ?? null) || done.has(schema as JsonObject)) return undefined;
    const object = schema as JsonObject;
    if (under.has(object)) return by;
    under.add(object);
    const { $ref } = object;
    let found = typeof $ref === "string" && leadsSomewhere($ref, whole) ? visit(lookUp(whole, $ref), $ref) : undefined;
    for (const inner of inPlace(object)) found ??= visit(inner, by);
    under.delete(object);
    done.add(object);
    return found;
  };
  for (const schema of schemas) {
    const found = visit(schema, "#");
    if (found !== undefined) return found;
  }
  return undefined;
}

function inPlace(schema: JsonObject): readonly (JsonValue | undefined)[] {
  return IN_PLACE.flatMap((key) => {
    const inner = schema[key];
    if (key === "dependentSchemas") return isJsonObject(inner ?? null) ? Object.values(inner as JsonObject) : [];
    return Array.isArray(inner) ? inner : [inner];
  });
}
