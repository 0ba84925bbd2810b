/**
 * Decides whether a JSON schema of a server is one, in all of its parts. The interfaces of models refuse a whole request for one wrong schema,
 * and names of properties reach models, messages and terminals.
 *
 * 1. Every keyword of JSON Schema 2020-12 has the kind of value that the standard says. Unknown keywords may have any value.
 * 2. No name, at any level, has control or invisible characters, is a path, or is a name that JavaScript treats in its own way.
 * 3. No reference comes back to itself without a step into the value: a check of such a schema would not end.
 *
 * The caller bounds the size and the depth of the schema first.
 */
import { shorten } from "../../base/cap-text.js";
import { safeLine } from "../../base/terminal-text.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { endlessReference } from "./schema-references.js";

type PlainKind = "type" | "count" | "number" | "positive" | "text" | "boolean" | "list";
export type Kind =
  | PlainKind
  | "schema"
  | "schemas"
  | "properties"
  | "definitions"
  | "names"
  | "names by name"
  | "choices"
  | "choice";

export const KEYWORDS: ReadonlyMap<string, Kind> = new Map(
  (
    [
      [
        "schema",
        "items additionalItems additionalProperties not if then else contains propertyNames unevaluatedItems unevaluatedProperties contentSchema",
      ],
      ["schemas", "allOf anyOf oneOf prefixItems"],
      ["properties", "properties dependentSchemas"],
      ["definitions", "$defs definitions patternProperties"],
      ["names", "required"],
      ["names by name", "dependentRequired"],
      ["type", "type"],
      ["count", "maxLength minLength maxItems minItems maxProperties minProperties maxContains minContains"],
      ["number", "minimum maximum exclusiveMinimum exclusiveMaximum"],
      ["positive", "multipleOf"],
      ["text", "$ref $dynamicRef $recursiveRef $schema $id $anchor title description $comment format pattern"],
      ["boolean", "uniqueItems deprecated readOnly writeOnly"],
      ["choices", "enum"],
      ["choice", "const"],
      ["list", "examples"],
    ] as const
  ).flatMap(([kind, keywords]) => keywords.split(" ").map((keyword) => [keyword, kind] as const)),
);

const TYPES: ReadonlySet<JsonValue> = new Set(["null", "boolean", "object", "array", "number", "string", "integer"]);
/** Matches what the interfaces of models take as names of arguments. */
const ARGUMENT_NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const MOST_NAME = 256;
/** Set by an assignment, it changes what the object inherits. */
const UNSAFE_NAME = "__proto__";

/** Ends the sentence "its schema …". */
class Fault extends Error {}

/** Tells why a schema cannot be used, or undefined. Ends the sentence "its schema …". */
export function schemaFault(schema: JsonObject): string | undefined {
  const check = new SchemaCheck();
  try {
    check.schema(schema, "");
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
  const endless = endlessReference(check.schemas, schema);
  return endless === undefined ? undefined : `has a reference ${shown(endless)} that leads back to itself`;
}

/** Lists what a value must be, and how it is called. */
const PLAIN: Readonly<Record<PlainKind, readonly [string, (value: JsonValue) => boolean]>> = {
  type: ["type of JSON", (value) => (Array.isArray(value) ? value.length > 0 && value.every(isType) : isType(value))],
  count: ["count", (value) => Number.isInteger(value) && (value as number) >= 0],
  number: ["number", (value) => typeof value === "number"],
  positive: ["number above 0", (value) => typeof value === "number" && value > 0],
  text: ["text", (value) => typeof value === "string"],
  boolean: ["boolean", (value) => typeof value === "boolean"],
  list: ["list", (value) => Array.isArray(value)],
};

function isType(value: JsonValue): boolean {
  return TYPES.has(value);
}

const PLAIN_CHECKS = Object.fromEntries(
  Object.entries(PLAIN).map(([kind, [wanted, isRight]]) => [
    kind,
    (value: JsonValue, at: string) => {
      if (!isRight(value)) throw notA(wanted, at);
    },
  ]),
) as Readonly<Record<PlainKind, (value: JsonValue, at: string) => void>>;

/** Every method throws a Fault. `at` is the way to the value. */
class SchemaCheck {
  /** All that were found. */
  readonly schemas: JsonObject[] = [];

  schema(value: JsonValue | undefined, at: string): void {
    if (typeof value === "boolean") return;
    if (!isJsonObject(value ?? null)) throw notA("schema", at);
    this.schemas.push(value as JsonObject);
    for (const [key, inner] of Object.entries(value as JsonObject)) {
      const kind = KEYWORDS.get(key);
      const next = at === "" ? key : `${at}.${key}`;
      if (kind !== undefined) this.#checks[kind](inner ?? null, next);
      else {
        checkName(key, at);
        checkNamesWithin(inner, next);
      }
    }
  }

  readonly #checks: Readonly<Record<Kind, (value: JsonValue, at: string) => void>> = {
    ...PLAIN_CHECKS,
    schema: (value, at) => {
      // Before 2020-12, "items" could be a list.
      if (Array.isArray(value) && /(?:^|\.)items$/.test(at)) this.#each(value, at);
      else this.schema(value, at);
    },
    schemas: (value, at) => {
      if (!Array.isArray(value) || value.length === 0) throw notA("list of schemas", at);
      this.#each(value, at);
    },
    properties: (value, at) => {
      for (const [name] of members(value, at)) {
        if (at === "properties") checkArgument(name);
        else checkProperty(name, at);
      }
      this.#named(value, at);
    },
    definitions: (value, at) => this.#named(value, at),
    names: checkNames,
    "names by name": (value, at) => {
      for (const [name, names] of members(value, at)) {
        checkProperty(name, at);
        checkNames(names, `${at}.${name}`);
      }
    },
    choices: (value, at) => {
      if (!Array.isArray(value)) throw notA("list", at);
      checkChoice(value, at);
    },
    choice: checkChoice,
  };

  #each(values: readonly JsonValue[], at: string): void {
    for (const [index, value] of values.entries()) this.schema(value, `${at}.${index}`);
  }

  #named(value: JsonValue, at: string): void {
    for (const [name, schema] of members(value, at)) {
      checkName(name, at);
      this.schema(schema, `${at}.${name}`);
    }
  }
}

function members(value: JsonValue, at: string): readonly (readonly [string, JsonValue])[] {
  if (!isJsonObject(value)) throw notA("object", at);
  return Object.entries(value) as [string, JsonValue][];
}

function checkNames(value: JsonValue, at: string): void {
  if (!Array.isArray(value) || !value.every((each) => typeof each === "string")) throw notA("list of names", at);
  for (const name of value as readonly string[]) checkProperty(name, at);
}

function checkArgument(name: string): void {
  if (!ARGUMENT_NAME.test(name)) throw new Fault(`has a property ${shown(name)}, which not every model takes`);
  checkName(name, "properties");
}

function checkProperty(name: string, at: string): void {
  checkName(name, at);
  if (/[/\\]/.test(name) || name === "." || name === "..")
    throw new Fault(`has a property ${shown(name)} in ${shown(at)}, which is a path`);
}

function checkName(name: string, at: string): void {
  const where = at === "" ? "" : ` in ${shown(at)}`;
  if (name === UNSAFE_NAME) throw new Fault(`has the name "${UNSAFE_NAME}"${where}, which is not safe`);
  if (name.length > MOST_NAME) throw new Fault(`has a name of more than ${MOST_NAME} characters${where}`);
  if (!isSafe(name)) throw new Fault(`has the name ${shown(name)}${where}, with control or invisible characters`);
}

/** A choice is sent back as it is, so its text cannot be cleaned. */
function checkChoice(value: JsonValue, at: string): void {
  checkNamesWithin(value, at);
  // Separators of tables are usual choices.
  if (textsOf(value).some((text) => !isSafe(text.replaceAll(/[\t\n\r]/g, " "))))
    throw new Fault(`has ${shown(at)}, with control or invisible characters`);
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** Samples and unknown keywords: any JSON whose names are safe. */
function checkNamesWithin(value: JsonValue | undefined, at: string): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    checkName(name, at);
    checkNamesWithin(inner as JsonValue, at);
  }
}

function isSafe(text: string): boolean {
  return safeLine(text) === text;
}

function notA(wanted: string, at: string): Fault {
  const article = /^[aeiou]/.test(wanted) ? "an" : "a";
  return new Fault(`has ${shown(at)}, which is not ${wanted === "text" ? "text" : `${article} ${wanted}`}`);
}

function shown(text: string): string {
  const line = safeLine(text);
  return JSON.stringify(shorten(line, 80));
}
