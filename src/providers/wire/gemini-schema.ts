/**
 * Converts JSON Schema to the subset that Gemini accepts for a function's parameters. An unknown keyword makes Gemini refuse the
 * whole request, so unsupported parts are dropped. If the model needs them, they move into the description.
 *
 * 1. The result allows everything that the schema allows, and maybe more: Oxbow checks the arguments itself.
 * 2. No schema makes this throw or run forever: a reference to itself becomes an object, and so does
 *    what is too deep or too much.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { asList, asNumber, asObject, asText } from "./fields.js";

const TYPES = new Set(["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"]);

/** Copied unchanged if they are numbers. */
const NUMBERS = [
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
] as const;

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  STRING: ["date-time"],
  NUMBER: ["float", "double"],
  INTEGER: ["int32", "int64"],
};

const DEEPEST = 32;
/** References can make a short schema huge. */
const LARGEST = 5000;

/** Undefined for a tool without parameters: Gemini refuses an object that has no properties. */
export function toGeminiSchema(schema: JsonObject): JsonObject | undefined {
  const converted = new Conversion(schema).convert(schema, []);
  return converted.type === "OBJECT" && converted.properties !== undefined ? converted : undefined;
}

/** The references on the way down: a repeated one means that the schema contains itself. */
type Trail = readonly string[];

class Conversion {
  readonly #root: JsonObject;
  #depth = 0;
  #size = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  convert(value: JsonValue | undefined, trail: Trail): JsonObject {
    if (this.#depth >= DEEPEST || ++this.#size > LARGEST) return { type: "OBJECT" };
    this.#depth++;
    const out = this.#convert(asObject(value), trail);
    this.#depth--;
    return out;
  }

  #convert(schema: JsonObject, trail: Trail): JsonObject {
    const reference = asText(schema.$ref);
    if (reference !== "") {
      const { $ref: _, ...beside } = schema;
      if (trail.includes(reference)) return { type: "OBJECT", ...described(beside, []) };
      return this.convert({ ...this.#lookUp(reference), ...beside }, [...trail, reference]);
    }
    if (Array.isArray(schema.allOf)) {
      const { allOf, ...rest } = schema;
      return this.convert(merged([rest, ...asList(allOf).map((part) => this.#resolved(asObject(part)))]), trail);
    }
    return this.#alternatives(schema, trail) ?? this.#plain(schema, trail);
  }

  #lookUp(reference: string): JsonObject {
    if (!reference.startsWith("#")) return {};
    const steps = reference.slice(1).split("/").slice(1);
    let here: JsonValue | undefined = this.#root;
    for (const step of steps) {
      const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
      here = Object.hasOwn(asObject(here), name) ? asObject(here)[name] : undefined;
    }
    return asObject(here);
  }

  #resolved(part: JsonObject): JsonObject {
    const reference = asText(part.$ref);
    return reference === "" ? part : { ...this.#lookUp(reference), ...part, $ref: undefined };
  }

  /** A `null` among them becomes `nullable`. */
  #alternatives(schema: JsonObject, trail: Trail): JsonObject | undefined {
    const types = asList(schema.type).map(asText);
    const named = types.filter((type) => type !== "null");
    if (types.length > 0) {
      const nullable = types.includes("null") && { nullable: true };
      if (named.length === 1) return { ...this.convert({ ...schema, type: named[0] }, trail), ...nullable };
      const { description, type: _, ...rest } = schema;
      const anyOf = named.map((type) => this.convert({ ...rest, type }, trail));
      return { ...described({ description }, []), anyOf, ...nullable };
    }
    const given = [...asList(schema.anyOf), ...asList(schema.oneOf)].map(asObject);
    if (given.length === 0) return undefined;
    const some = given.filter((option) => option.type !== "null");
    const { anyOf: _, oneOf: __, ...rest } = schema;
    const nullable = some.length < given.length && { nullable: true };
    const [only] = some;
    if (only === undefined) return { type: "STRING", ...described(rest, []), ...nullable };
    if (some.length === 1) return { ...this.convert(merged([only, rest]), trail), ...nullable };
    // Properties beside the alternatives belong to each of them.
    const { description, title, ...shared } = rest;
    const anyOf = some.map((option) => this.convert(merged([option, shared]), trail));
    return { ...described({ description, title }, []), anyOf, ...nullable };
  }

  #plain(schema: JsonObject, trail: Trail): JsonObject {
    const type = typeOf(schema);
    const { values, notes } = choices(schema, type);
    const format = asText(schema.format);
    return {
      type,
      ...(FORMATS[type]?.includes(format) && { format }),
      ...described(schema, notes),
      ...(schema.nullable === true && { nullable: true }),
      ...(values.length > 0 && { enum: values }),
      ...Object.fromEntries(
        NUMBERS.flatMap((name) => (asNumber(schema[name]) === undefined ? [] : [[name, schema[name]]])),
      ),
      ...(type === "STRING" && typeof schema.pattern === "string" && { pattern: schema.pattern }),
      ...(type === "OBJECT" && this.#properties(schema, trail)),
      ...(type === "ARRAY" && { items: this.#items(schema, trail) }),
    };
  }

  #properties(schema: JsonObject, trail: Trail): JsonObject {
    const names = Object.keys(asObject(schema.properties));
    if (names.length === 0) return {};
    const converted = names.map((name) => [name, this.convert(asObject(schema.properties)[name], trail)]);
    const required = asList(schema.required).filter((name) => names.includes(asText(name)));
    return { properties: Object.fromEntries(converted), ...(required.length > 0 && { required }) };
  }

  /** Gemini requires the type of items. A tuple becomes a list of anything that its positions allow. */
  #items(schema: JsonObject, trail: Trail): JsonObject {
    const places = [...asList(schema.prefixItems), ...asList(schema.items)];
    if (places.length > 0) return this.convert(places.length === 1 ? places[0] : { anyOf: places }, trail);
    return isJsonObject(schema.items) ? this.convert(schema.items, trail) : { type: "STRING" };
  }
}

function typeOf(schema: JsonObject): string {
  const named = asText(schema.type).toUpperCase();
  if (TYPES.has(named)) return named;
  if (isJsonObject(schema.properties)) return "OBJECT";
  if (schema.items !== undefined || schema.prefixItems !== undefined) return "ARRAY";
  const values = [schema.const, ...asList(schema.enum)].filter((value) => value !== undefined && value !== null);
  const [kind, ...others] = new Set(values.map((value) => typeof value));
  if (others.length === 0 && (kind === "number" || kind === "boolean")) return kind.toUpperCase();
  return schema.type === undefined && schema.additionalProperties !== undefined ? "OBJECT" : "STRING";
}

/** Only strings can be listed; other values go into the description. */
function choices(schema: JsonObject, type: string): { values: readonly JsonValue[]; notes: readonly string[] } {
  const given = schema.const === undefined ? asList(schema.enum) : [schema.const];
  const texts = given.filter((value) => typeof value === "string" && value !== "");
  if (given.length === 0) return { values: [], notes: [] };
  if (type === "STRING" && texts.length === given.length) return { values: texts, notes: [] };
  const listed = given.map((value) => JSON.stringify(value)).join(", ");
  return { values: [], notes: [given.length === 1 ? `Always ${listed}.` : `One of ${listed}.`] };
}

function described(schema: JsonObject, notes: readonly string[]): JsonObject {
  const description = [asText(schema.description), ...notes].filter(Boolean).join(" ");
  return {
    ...(typeof schema.title === "string" && { title: schema.title }),
    ...(description !== "" && { description }),
  };
}

/** Combines several schemas, as far as the subset can: the properties of all, and everything else from the first. */
function merged(schemas: readonly JsonObject[]): JsonObject {
  const properties: Record<string, JsonValue | undefined> = {};
  const required = new Set<JsonValue>();
  for (const schema of schemas) {
    for (const [name, value] of Object.entries(asObject(schema.properties))) {
      Object.defineProperty(properties, name, { value, enumerable: true, configurable: true, writable: true });
    }
    for (const name of asList(schema.required)) required.add(name);
  }
  return {
    ...Object.assign({}, ...schemas.toReversed()),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.size > 0 && { required: [...required] }),
  };
}
