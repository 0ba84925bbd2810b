/**
 * JSON schemas that servers send, which may be anything.
 *
 * 1. Arguments and structured results are checked with ajv by the rules of 2020-12. No reference leads out of the schema.
 * 2. Patterns are not run: one that backtracks would stop the program. The server checks its arguments itself.
 * 3. A schema whose check could take long is not checked.
 */
import { createHash } from "node:crypto";
import type { Ajv2020 as AjvClass } from "ajv/dist/2020.js";
import { processCache } from "../../base/cache-budget.js";
import { nestingOf } from "../../base/json-nesting.js";
import { safeLine, safeText } from "../../base/terminal-text.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";

const MOST_BYTES = 64 * 1024;
const MOST_LEVELS = 40;
const MOST_WORDS = 1000;

/** The schema as a model gets it; throws an error whose message ends the sentence "its schema …". */
export function usableSchema(given: unknown): JsonObject {
  if (!isJsonObject(given as JsonValue)) throw new Error("is not an object");
  const text = JSON.stringify(given);
  if (text.length > MOST_BYTES) throw new Error(`is larger than ${MOST_BYTES / 1024} KB`);
  if (nestingOf(text) > MOST_LEVELS) throw new Error("is nested too deep");
  const schema = given as JsonObject;
  if ((schema.type ?? "object") !== "object") throw new Error('has a type other than "object"');
  const { properties, required } = schema;
  if (properties !== undefined && !isJsonObject(properties)) throw new Error('has "properties" that are not an object');
  for (const [name, property] of Object.entries(properties ?? {})) checkProperty(name, property);
  if (required !== undefined && !(Array.isArray(required) && required.every((each) => typeof each === "string")))
    throw new Error('has a "required" that is not a list of names');
  const { $ref: _whole, ...rest } = schema;
  return { ...(cleaned(rest, schema) as JsonObject), type: "object" };
}

/** What the interfaces of models take. One that they refuse would end every request of the session. */
const PROPERTY_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

function checkProperty(name: string, property: JsonValue | undefined): void {
  const shown = JSON.stringify(safeLine(name.slice(0, 80)));
  if (!PROPERTY_NAME.test(name)) throw new Error(`has a property ${shown}, which not every model takes`);
  if (!isJsonObject(property ?? null) && typeof property !== "boolean")
    throw new Error(`has a property ${shown} that is not a schema`);
}

const WORDS: ReadonlySet<string> = new Set(["description", "title", "$comment"]);

/** They lead elsewhere, or nowhere that a model could follow. */
const REFERENCES: ReadonlySet<string> = new Set(["$dynamicRef", "$recursiveRef"]);

/** Without control characters in what people and models read, and without references that lead nowhere. */
function cleaned(value: JsonValue, whole: JsonObject): JsonValue {
  if (Array.isArray(value)) return value.map((each) => cleaned(each, whole));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    if (inner === undefined || REFERENCES.has(key)) return [];
    if (key === "$ref" && typeof inner === "string" && !leadsSomewhere(inner, whole)) return [];
    const isWords = WORDS.has(key) && typeof inner === "string";
    return [[key, isWords ? safeText(inner as string).slice(0, MOST_WORDS) : cleaned(inner, whole)] as const];
  });
  return Object.fromEntries(entries) as JsonObject;
}

/** To a schema within the whole, not only to further references in a circle. */
function leadsSomewhere(reference: string, whole: JsonObject): boolean {
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

/** The problems of a value, a line each. */
export type CheckValue = (value: unknown) => readonly string[];

const NO_PROBLEMS: CheckValue = () => [];

let loading: Promise<typeof AjvClass> | undefined;

/** Checks nothing if the schema cannot be used for that. */
export async function checkerOf(schema: unknown): Promise<CheckValue> {
  loading ??= import("ajv/dist/2020.js").then(({ Ajv2020 }) => Ajv2020);
  return compile(await loading, schema).check;
}

interface Compiled {
  readonly check: CheckValue;
  readonly isUsable: boolean;
}

/** About what a compiled schema takes: an instance of the library, and code for each part of the schema. */
const INSTANCE_BYTES = 40_000;
const BYTES_PER_CHARACTER = 10;

/** The same at once, for the client of the protocol. Sessions and servers with the same schema share it. */
export function compile(Ajv: typeof AjvClass, schema: unknown): Compiled {
  const text = JSON.stringify(schema) ?? "";
  const key = text.length > 200 ? createHash("sha256").update(text).digest("base64") : text;
  const cache = processCache<Compiled>("MCP schemas");
  const known = cache.get(key);
  if (known !== undefined) return known;
  const compiled = compileNow(Ajv, schema);
  cache.set(key, compiled, compiled.isUsable ? INSTANCE_BYTES + BYTES_PER_CHARACTER * text.length : 200);
  return compiled;
}

function compileNow(Ajv: typeof AjvClass, schema: unknown): Compiled {
  if (!isJsonObject(schema as JsonValue) || costOf(schema as JsonObject) > MOST_COST)
    return { check: NO_PROBLEMS, isUsable: false };
  try {
    const ajv = new Ajv({
      strict: false,
      validateFormats: false,
      logger: false,
      inlineRefs: false,
      meta: false,
      validateSchema: false,
    });
    const validate = ajv.compile(withoutPatterns(schema as JsonValue) as JsonObject);
    const check: CheckValue = (value) => {
      if (validate(value)) return [];
      return (validate.errors ?? []).map(({ instancePath, message, params }) => {
        const at = instancePath === "" ? "the arguments" : `"${instancePath.slice(1).replaceAll("/", ".")}"`;
        const extra = (params as { additionalProperty?: string }).additionalProperty;
        return `${at} ${message ?? "is not valid"}${extra === undefined ? "" : ` ("${extra}")`}`;
      });
    };
    return { check, isUsable: true };
  } catch {
    // An unknown dialect, or a reference that leads elsewhere.
    return { check: NO_PROBLEMS, isUsable: false };
  }
}

export async function loadAjv(): Promise<typeof AjvClass> {
  loading ??= import("ajv/dist/2020.js").then(({ Ajv2020 }) => Ajv2020);
  return loading;
}

const DROPPED: ReadonlySet<string> = new Set(["pattern", "patternProperties", "format", "$schema", "$id", "$comment"]);
/** Their keys are names, not keywords. */
const NAMED: ReadonlySet<string> = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);
const DATA: ReadonlySet<string> = new Set(["enum", "const", "default", "examples"]);

function withoutPatterns(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutPatterns);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value)
    .filter(([key]) => !DROPPED.has(key))
    .map(([key, inner]) => {
      if (inner === undefined || DATA.has(key)) return [key, inner];
      if (!NAMED.has(key) || !isJsonObject(inner)) return [key, withoutPatterns(inner)];
      const named = Object.entries(inner).map(([name, schema]) => [name, withoutPatterns(schema ?? null)]);
      return [key, Object.fromEntries(named) as JsonObject];
    });
  return Object.fromEntries(entries) as JsonObject;
}

const MOST_COST = 20_000;
/** A reference to something around it. */
const RECURSION = 200;

/** How many parts a check may visit, with references counted as often as they are made. */
function costOf(schema: JsonObject): number {
  const known = new Map<string, number>();
  const under = new Set<string>();
  const cost = (value: JsonValue | undefined): number => {
    if (typeof value !== "object" || value === null) return 1;
    let sum = 1;
    for (const [key, inner] of Object.entries(value)) {
      if (key === "$ref" && typeof inner === "string") sum += target(inner);
      else if (key !== "$defs" && key !== "definitions") sum += cost(inner as JsonValue);
      if (sum > MOST_COST) return sum;
    }
    return sum;
  };
  const target = (reference: string): number => {
    const before = known.get(reference);
    if (before !== undefined) return before;
    if (under.has(reference)) return RECURSION;
    under.add(reference);
    const found = cost(lookUp(schema, reference));
    under.delete(reference);
    known.set(reference, found);
    return found;
  };
  return cost(schema);
}

function lookUp(schema: JsonObject, reference: string): JsonValue | undefined {
  if (!reference.startsWith("#")) return undefined;
  let at: JsonValue | undefined = schema;
  for (const part of reference
    .slice(1)
    .split("/")
    .filter((each) => each !== "")) {
    if (typeof at !== "object" || at === null) return undefined;
    at = (at as JsonObject)[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return at;
}
