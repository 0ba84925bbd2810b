/**
 * JSON schemas that servers send, which may be anything.
 *
 * 1. Arguments and structured results are checked with ajv by the rules of 2020-12. No reference leads out of the schema.
 * 2. Patterns are not run: one that backtracks would stop the program. The server checks its arguments itself.
 * 3. A schema or a value whose check could take long is not checked.
 */
import { createHash } from "node:crypto";
import type { Ajv2020 as AjvClass } from "ajv/dist/2020.js";
import { processCache } from "../../base/cache-budget.js";
import { nestingOf } from "../../base/json-nesting.js";
import { safeText } from "../../base/terminal-text.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { leadsSomewhere, lookUp } from "./schema-references.js";
import { schemaFault } from "./schema-shape.js";

const MOST_BYTES = 64 * 1024;
const MOST_LEVELS = 40;
const MOST_WORDS = 1000;

/** The schema as a model gets it; throws an error whose message ends the sentence "its schema …". */
export function usableSchema(given: unknown): JsonObject {
  if (!isJsonObject(given as JsonValue)) throw new Error("is not an object");
  const text = JSON.stringify(given);
  if (text.length > MOST_BYTES) throw new Error(`is larger than ${MOST_BYTES / 1024} KB`);
  if (nestingOf(text) > MOST_LEVELS) throw new Error("is nested too deep");
  const { $ref, ...rest } = given as JsonObject;
  const target = typeof $ref === "string" ? lookUp(given as JsonObject, $ref) : undefined;
  // Some generators make the whole schema a definition.
  const schema = { ...(target !== given && isJsonObject(target ?? null) ? (target as JsonObject) : {}), ...rest };
  if ((schema.type ?? "object") !== "object") throw new Error('has a type other than "object"');
  const fault = schemaFault(schema);
  if (fault !== undefined) throw new Error(fault);
  const { $ref: _further, ...usable } = schema;
  return { ...(cleaned(usable, schema) as JsonObject), type: "object" };
}

const WORDS: ReadonlySet<string> = new Set(["description", "title", "$comment"]);

/** They lead elsewhere, or nowhere that a model could follow. */
const REFERENCES: ReadonlySet<string> = new Set(["$dynamicRef", "$recursiveRef"]);

/** Their values are sent back as they are, or lead elsewhere. */
const EXACT: ReadonlySet<string> = new Set(["enum", "const", "$ref"]);

/** Without control characters in what people and models read, and without references that lead nowhere. */
function cleaned(value: JsonValue, whole: JsonObject): JsonValue {
  if (typeof value === "string") return safeText(value);
  if (Array.isArray(value)) return value.map((each) => cleaned(each, whole));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(inNewForm(value)).flatMap(([key, inner]): (readonly [string, JsonValue])[] => {
    if (inner === undefined || REFERENCES.has(key)) return [];
    if (key === "$ref" && typeof inner === "string" && !leadsSomewhere(inner, whole)) return [];
    if (EXACT.has(key) && !isJsonObject(inner)) return [[key, inner]];
    const isWords = WORDS.has(key) && typeof inner === "string";
    return [[key, isWords ? safeText(inner).slice(0, MOST_WORDS) : cleaned(inner, whole)]];
  });
  return Object.fromEntries(entries) as JsonObject;
}

/** A list of "items", as before 2020-12: interfaces of models refuse it. */
function inNewForm(schema: JsonObject): JsonObject {
  if (!Array.isArray(schema.items)) return schema;
  const { items, additionalItems, ...rest } = schema;
  return {
    ...rest,
    ...(items.length > 0 && { prefixItems: items }),
    ...(additionalItems !== undefined && { items: additionalItems }),
  };
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

/** A schema of results may refer to itself without end. */
function isRight(validate: (value: unknown) => unknown, value: unknown): boolean {
  try {
    return validate(value) === true;
  } catch {
    return true;
  }
}

const UNUSABLE: Compiled = { check: NO_PROBLEMS, isUsable: false };

function compileNow(Ajv: typeof AjvClass, schema: unknown): Compiled {
  if (!isJsonObject(schema as JsonValue)) return UNUSABLE;
  const cost = costOf(schema as JsonObject);
  if (cost.parts > MOST_COST) return UNUSABLE;
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
      if (isLong(value, cost) || isRight(validate, value)) return [];
      return (validate.errors ?? []).map(({ instancePath, message, params }) => {
        const at = instancePath === "" ? "the arguments" : `"${instancePath.slice(1).replaceAll("/", ".")}"`;
        const extra = (params as { additionalProperty?: string }).additionalProperty;
        return `${at} ${message ?? "is not valid"}${extra === undefined ? "" : ` ("${extra}")`}`;
      });
    };
    return { check, isUsable: true };
  } catch {
    // An unknown dialect, or a reference that leads elsewhere.
    return UNUSABLE;
  }
}

export async function loadAjv(): Promise<typeof AjvClass> {
  loading ??= import("ajv/dist/2020.js").then(({ Ajv2020 }) => Ajv2020);
  return loading;
}

/** Anchors and moving references would make the cost of a check unknown. */
const DROPPED: ReadonlySet<string> = new Set(
  "pattern patternProperties format $schema $id $comment $anchor $dynamicAnchor $dynamicRef $recursiveRef".split(" "),
);
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
/** Sets how often one part of a value may be checked, and how many steps a whole check may take. */
const MOST_REPEATS = 1000;
const MOST_STEPS = 1e9;

interface Cost {
  /** Says how many parts a check may visit, with references counted as often as they are made. */
  readonly parts: number;
  /** References, if one leads to something around it: each level of a value may then be checked that often. Otherwise 0. */
  readonly branches: number;
}

/** Two references to the same thing around them would double the work with each level of the value. */
function isLong(value: unknown, { parts, branches }: Cost): boolean {
  const text = JSON.stringify(value) ?? "";
  return parts * text.length > MOST_STEPS || (branches > 1 && branches ** nestingOf(text) > MOST_REPEATS);
}

function costOf(schema: JsonObject): Cost {
  let references = 0;
  let isRecursive = false;
  const known = new Map<string, number>();
  const under = new Set<string>();
  const cost = (value: JsonValue | undefined): number => {
    if (typeof value !== "object" || value === null) return 1;
    let sum = 1;
    for (const [key, inner] of Object.entries(value)) {
      if (key === "$ref" && typeof inner === "string") {
        references++;
        sum += target(inner);
      } else if (key !== "$defs" && key !== "definitions") sum += cost(inner as JsonValue);
      if (sum > MOST_COST) return sum;
    }
    return sum;
  };
  const target = (reference: string): number => {
    const before = known.get(reference);
    if (before !== undefined) return before;
    if (under.has(reference)) {
      isRecursive = true;
      return RECURSION;
    }
    under.add(reference);
    const found = cost(lookUp(schema, reference));
    under.delete(reference);
    known.set(reference, found);
    return found;
  };
  // The whole is around everything.
  under.add("#");
  const parts = cost(schema);
  return { parts, branches: isRecursive ? references : 0 };
}
