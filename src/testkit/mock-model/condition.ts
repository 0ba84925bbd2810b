/** Decides whether a request matches the expectations of a script. */
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonValue } from "../../protocol/json.js";
import type { Condition, Test } from "./script/script.js";
import type { Ask, Incoming, WireName } from "./wires/wire.js";

export interface Facts {
  readonly wire: WireName;
  readonly request: Incoming;
  readonly ask: Ask;
}

export function holds(condition: Condition, facts: Facts): boolean {
  return passes(condition.test, lookUp(condition.subject, facts)) !== (condition.not === true);
}

/** A sentence for the failure: the expected and the actual value. */
export function explain(condition: Condition, facts: Facts): string {
  const value = lookUp(condition.subject, facts);
  const found = value === undefined ? "it is missing" : `it is ${shorten(JSON.stringify(value))}`;
  const where = condition.line === undefined ? "" : ` (line ${condition.line} of the script)`;
  return `expected ${condition.subject} ${condition.not ? "not " : ""}${describe(condition.test)}, but ${found}${where}`;
}

function lookUp(subject: string, { wire, request, ask }: Facts): JsonValue | undefined {
  if (subject.startsWith("header ")) return request.headers[subject.slice("header ".length)];
  if (subject.startsWith("body.")) return follow(ask.body, subject.split(".").slice(1));
  switch (subject) {
    case "last-user":
      return ask.lastUser;
    case "last-tool-result":
      return ask.lastToolResult;
    case "tool-results":
      return ask.toolResults.length === 0 ? undefined : ask.toolResults.join("\n");
    case "system":
      return ask.system;
    case "model":
      return ask.model;
    case "wire":
      return wire;
    case "messages":
      return ask.messages;
    case "tools":
      return ask.tools;
    case "stream":
      return ask.stream;
    case "path":
      return request.path;
    case "body":
      return request.bodyText;
    default:
      throw new Error(`A mock script asks about "${subject}", which is not a subject. docs/testing.md lists them.`);
  }
}

function follow(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let here = value;
  for (const name of path) {
    if (Array.isArray(here)) here = name === "last" ? here.at(-1) : here[Number(name)];
    else if (isJsonObject(here)) here = here[name];
    else return undefined;
  }
  return here;
}

function passes(test: Test, value: JsonValue | undefined): boolean {
  if ("exists" in test) return value !== undefined;
  if (value === undefined) return false;
  if ("is" in test) return isDeepStrictEqual(value, test.is);
  if ("atLeast" in test) return typeof value === "number" && value >= test.atLeast;
  if ("atMost" in test) return typeof value === "number" && value <= test.atMost;
  if ("contains" in test && Array.isArray(value) && value.every((item) => typeof item === "string")) {
    return value.includes(test.contains);
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return "contains" in test ? text.includes(test.contains) : text.search(test.matches) >= 0;
}

function describe(test: Test): string {
  if ("contains" in test) return `contains ${JSON.stringify(test.contains)}`;
  if ("is" in test) return `is ${JSON.stringify(test.is)}`;
  if ("matches" in test) return `matches ${test.matches}`;
  if ("atLeast" in test) return `at-least ${test.atLeast}`;
  if ("atMost" in test) return `at-most ${test.atMost}`;
  return "exists";
}

function shorten(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, 300)}… (${text.length} characters)`;
}
