/**
 * Forms that an MCP server or the model asks the user to fill in.
 *
 * 1. The schema of a form is flat: text, numbers, yes or no, and choices. Other fields are left out.
 * 2. Values are checked before they are sent, without running patterns of the server.
 */

import type { FormField, FormValue, FormValues } from "../protocol/form.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.js";
import { safeLine } from "./terminal-text.js";

const MOST_FIELDS = 50;
const MOST_CHOICES = 200;
const MOST_WORDS = 500;

export function formFields(schema: unknown): readonly FormField[] {
  const { properties, required } = isJsonObject(schema as JsonValue) ? (schema as JsonObject) : {};
  if (!isJsonObject(properties ?? null)) return [];
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties as JsonObject)
    .slice(0, MOST_FIELDS)
    .flatMap(([name, property]) => {
      const field = isJsonObject(property ?? null) ? fieldOf(name, property as JsonObject) : undefined;
      if (field === undefined) return [];
      return [needed.includes(name) ? { ...field, required: true as const } : field];
    });
}

function fieldOf(name: string, property: JsonObject): FormField | undefined {
  const { type, title, description, items } = property;
  const choices = choicesOf(type === "array" && isJsonObject(items ?? null) ? (items as JsonObject) : property);
  const kind = kindOf(type, choices.length > 0);
  if (kind === undefined) return undefined;
  const hint = hintOf(property);
  const usual = type === "array" ? property.default : scalar(property.default);
  const field: FormField = {
    ...{ name, kind },
    ...(typeof title === "string" && { title: words(title) }),
    ...(typeof description === "string" && { description: words(description) }),
    ...(choices.length > 0 && { choices }),
    ...(hint !== "" && { hint }),
  };
  const isUsable = usual !== undefined && problemOf(field, usual, property) === undefined;
  return isUsable ? { ...field, default: usual as FormValue } : field;
}

function scalar(value: JsonValue | undefined): JsonValue | undefined {
  return typeof value === "object" ? undefined : value;
}

function words(text: string): string {
  return safeLine(text).slice(0, MOST_WORDS);
}

function kindOf(type: JsonValue | undefined, hasChoices: boolean): FormField["kind"] | undefined {
  if (type === "array") return hasChoices ? "some" : undefined;
  if (type === "boolean") return "yes_no";
  if (type === "number" || type === "integer") return type;
  if (type !== undefined && type !== "string") return undefined;
  return hasChoices ? "one" : "text";
}

/** With titles as `oneOf` or `anyOf`, as `enumNames` in older servers, or without. */
function choicesOf({ enum: values, enumNames, oneOf, anyOf }: JsonObject): NonNullable<FormField["choices"]> {
  const titled = oneOf ?? anyOf;
  if (Array.isArray(titled)) {
    return titled.slice(0, MOST_CHOICES).flatMap((each) => {
      if (!isJsonObject(each) || typeof each.const !== "string") return [];
      return [{ value: each.const, title: words(typeof each.title === "string" ? each.title : each.const) }];
    });
  }
  if (!Array.isArray(values)) return [];
  const names = Array.isArray(enumNames) ? enumNames : [];
  return values.slice(0, MOST_CHOICES).flatMap((value, index) => {
    const title = names[index];
    return typeof value === "string" ? [{ value, title: words(typeof title === "string" ? title : value) }] : [];
  });
}

const FORMATS: Readonly<Record<string, { readonly name: string; readonly isValid: (text: string) => boolean }>> = {
  email: { name: "an e-mail address", isValid: (text) => /^[^\s@]+@[^\s@]+$/.test(text) },
  uri: { name: "an address such as https://example.com", isValid: (text) => URL.canParse(text) },
  date: { name: "a date such as 2026-01-31", isValid: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isTime(text) },
  "date-time": {
    name: "a time such as 2026-01-31T09:30:00Z",
    isValid: (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && isTime(text),
  },
};

function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}

function formatOf({ format }: JsonObject) {
  return typeof format === "string" && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
}

const LIMITS: readonly (readonly [low: string, high: string, unit: string])[] = [
  ["minimum", "maximum", ""],
  ["minLength", "maxLength", " characters"],
  ["minItems", "maxItems", " choices"],
];

function limitsOf(property: JsonObject, unit: (typeof LIMITS)[number]): readonly [number, number] {
  const of = (key: string, other: number) => (typeof property[key] === "number" ? (property[key] as number) : other);
  return [of(unit[0], Number.NEGATIVE_INFINITY), of(unit[1], Number.POSITIVE_INFINITY)];
}

function hintOf(property: JsonObject): string {
  const ranges = LIMITS.flatMap((limit) => {
    const [low, high] = limitsOf(property, limit);
    if (low === Number.NEGATIVE_INFINITY && high === Number.POSITIVE_INFINITY) return [];
    if (high === Number.POSITIVE_INFINITY) return [`at least ${low}${limit[2]}`];
    return [low === Number.NEGATIVE_INFINITY ? `at most ${high}${limit[2]}` : `${low} to ${high}${limit[2]}`];
  });
  const format = formatOf(property);
  return [...(format === undefined ? [] : [format.name]), ...ranges].join(", ");
}

/** Ends a sentence that begins with the field; undefined for a value that can be sent. */
function problemOf(field: FormField, value: JsonValue, property: JsonObject): string | undefined {
  const isWithin = (index: number, size: number) => {
    const [low, high] = limitsOf(property, LIMITS[index] ?? ["", "", ""]);
    return size >= low && size <= high;
  };
  const must = `must be ${field.hint ?? "another value"}`;
  const isChoice = (each: JsonValue) => (field.choices ?? []).some((choice) => choice.value === each);
  switch (field.kind) {
    case "yes_no":
      return typeof value === "boolean" ? undefined : "must be yes or no";
    case "number":
    case "integer": {
      const isNumber = typeof value === "number" && (field.kind === "number" || Number.isInteger(value));
      if (!isNumber) return `must be a ${field.kind === "integer" ? "whole " : ""}number`;
      return isWithin(0, value) ? undefined : must;
    }
    case "one":
      return isChoice(value) ? undefined : `must be one of ${titlesOf(field)}`;
    case "some":
      if (!Array.isArray(value) || !value.every(isChoice)) return `must be some of ${titlesOf(field)}`;
      return isWithin(2, value.length) ? undefined : must;
    case "text": {
      if (typeof value !== "string") return "must be text";
      const format = formatOf(property);
      const isFormat = format === undefined || format.isValid(value);
      return isFormat && isWithin(1, [...value].length) ? undefined : must;
    }
  }
}

function titlesOf({ choices = [] }: FormField): string {
  return choices.map(({ value }) => value).join(", ");
}

/** Tells why the values cannot be sent, a sentence each. */
export function formProblems(schema: unknown, values: FormValues): readonly string[] {
  const { properties } = isJsonObject(schema as JsonValue) ? (schema as JsonObject) : {};
  return formFields(schema).flatMap((field) => {
    const value = values[field.name];
    if (value === undefined) return field.required ? [`${field.title ?? field.name} has no value.`] : [];
    const property = (properties as JsonObject)[field.name] as JsonObject;
    const problem = problemOf(field, value as JsonValue, property);
    return problem === undefined ? [] : [`${field.title ?? field.name} ${problem}.`];
  });
}

/** For a person whose client shows no form. */
export function formText(fields: readonly FormField[]): string {
  const lines = fields.map(({ name, title, kind, required, description, default: usual, choices, hint }) => {
    const facts = [
      KINDS[kind],
      required ? "required" : "optional",
      ...(choices === undefined ? [] : [choices.map(choiceText).join(", ")]),
      ...(hint === undefined ? [] : [hint]),
      ...(usual === undefined ? [] : [`default ${JSON.stringify(usual)}`]),
    ];
    const about = [title, description].filter((part) => part !== undefined).join(". ");
    return `${safeLine(name)} (${facts.join("; ")})${about === "" ? "" : `: ${about}`}`;
  });
  return [...lines, "", "Answer with NAME=VALUE lines or JSON as the message; without, the defaults are sent."].join(
    "\n",
  );
}

const KINDS: Readonly<Record<FormField["kind"], string>> = {
  ...{ text: "text", number: "number", integer: "whole number", yes_no: "yes or no", one: "one of", some: "some of" },
};

function choiceText({ value, title }: { readonly value: string; readonly title: string }): string {
  return value === title ? safeLine(value) : `${safeLine(value)} (${title})`;
}

/** The defaults, and what the person wrote: JSON, lines of NAME=VALUE, or the value of the only field. */
export function formValues(fields: readonly FormField[], message = ""): FormValues {
  const values: Record<string, FormValue> = {};
  const written = writtenValues(fields, message);
  for (const field of fields) {
    const { name, default: usual } = field;
    // Null takes back the default.
    const given = Object.hasOwn(written, name) ? written[name] : (usual as JsonValue | undefined);
    if (given === undefined || given === null) continue;
    values[name] = (typeof given === "string" ? typed(given, field) : given) as FormValue;
  }
  return values;
}

function writtenValues(fields: readonly FormField[], message: string): Readonly<Record<string, JsonValue>> {
  const text = message.trim();
  if (text === "") return {};
  if (text.startsWith("{")) {
    try {
      return JSON.parse(text) as Record<string, JsonValue>;
    } catch {
      return {};
    }
  }
  const pairs = [...text.matchAll(/^\s*([^=\s]+)\s*=\s*(.*?)\s*$/gm)].map(([, name = "", value = ""]) => [name, value]);
  const known = pairs.filter(([name]) => fields.some((field) => field.name === name));
  if (known.length > 0) return Object.fromEntries(known) as Record<string, string>;
  const [only, ...others] = fields;
  return only !== undefined && others.length === 0 ? { [only.name]: text } : {};
}

/** Leaves what cannot be read as it is written, so that the check names it. */
function typed(written: string, { kind, choices = [] }: FormField): FormValue {
  const valueFor = (text: string) =>
    choices.find(({ value, title }) => value === text || title.toLowerCase() === text.toLowerCase())?.value ?? text;
  if (kind === "yes_no") {
    if (/^(true|yes|y|1)$/i.test(written)) return true;
    return /^(false|no|n|0)$/i.test(written) ? false : written;
  }
  if (kind === "one") return valueFor(written);
  if (kind === "some")
    return written
      .split(",")
      .map((part) => valueFor(part.trim()))
      .filter((part) => part !== "");
  if (kind === "text") return written;
  const number = Number(written);
  return written.trim() === "" || !Number.isFinite(number) ? written : number;
}
