/**
 * Function calls of Gemini whose arguments come in pieces: each piece names the place of a value by a JSON path, and strings grow.
 *
 * 1. A piece that cannot be placed makes the whole call malformed: Oxbow never runs partly guessed arguments.
 */
import { MOST_ARGUMENT_LEVELS } from "../../base/json-nesting.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { asList, asObject, asText } from "./fields.js";

export interface PartialCall {
  readonly name: string;
  readonly signature: string;
  readonly args: JsonObject;
  /** The first piece that could not be placed. */
  readonly unplaced?: JsonValue;
}

export function beginCall(given: JsonObject, signature: string): PartialCall {
  return continueCall({ name: asText(given.name), signature, args: {} }, given);
}

export function continueCall(call: PartialCall, given: JsonObject): PartialCall {
  const whole = isJsonObject(given.args) ? { ...call, args: { ...call.args, ...given.args } } : call;
  return asList(given.partialArgs).reduce<PartialCall>((before, piece) => place(before, asObject(piece)), whole);
}

/** The text of a malformed call is the piece, which is not an object of arguments. */
export function writtenArguments({ args, unplaced }: PartialCall): string {
  return JSON.stringify(unplaced === undefined ? args : [unplaced]);
}

function place(call: PartialCall, piece: JsonObject): PartialCall {
  if (call.unplaced !== undefined) return call;
  const path = readPath(asText(piece.jsonPath));
  const args = path === undefined ? undefined : put(call.args, path, piece);
  return isJsonObject(args) ? { ...call, args } : { ...call, unplaced: piece };
}

/** `$.files[0].name`, `$['a b']`; undefined when it is neither, or too deep. */
function readPath(path: string): readonly (string | number)[] | undefined {
  const steps: (string | number)[] = [];
  const step = /\.([^.[\]'"]+)|\[(\d+)\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/y;
  step.lastIndex = 1;
  while (path.startsWith("$") && step.lastIndex < path.length) {
    const found = step.exec(path);
    if (found === null) return undefined;
    const [, name, index, single, double] = found;
    steps.push(index === undefined ? (name ?? (single ?? double ?? "").replace(/\\(.)/g, "$1")) : Number(index));
  }
  return steps.length === 0 || steps.length > MOST_ARGUMENT_LEVELS ? undefined : steps;
}

/** Undefined if another value is at that place. */
function put(
  target: JsonValue | undefined,
  path: readonly (string | number)[],
  piece: JsonObject,
): JsonValue | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return valueIn(piece, target);
  if (typeof step === "number") {
    const list = target === undefined ? [] : target;
    if (!Array.isArray(list) || step > list.length) return undefined;
    const value = put(list[step] as JsonValue | undefined, rest, piece);
    return value === undefined ? undefined : list.toSpliced(step, 1, value);
  }
  const object = target === undefined ? {} : target;
  if (!isJsonObject(object)) return undefined;
  const value = put(Object.hasOwn(object, step) ? object[step] : undefined, rest, piece);
  // A computed name always creates an own field, even `__proto__`.
  return value === undefined ? undefined : { ...object, [step]: value };
}

function valueIn(piece: JsonObject, before: JsonValue | undefined): JsonValue | undefined {
  if (typeof piece.stringValue === "string") {
    return typeof before === "string" ? before + piece.stringValue : piece.stringValue;
  }
  if ("nullValue" in piece) return null;
  return piece.numberValue ?? piece.boolValue;
}
