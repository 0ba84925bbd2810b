/** Describes how a request differs from the recorded one. */
import { diffText } from "../../base/diff.js";
import { isJsonObject, type JsonValue } from "../../protocol/json.js";
import type { TapedRequest } from "./tape.js";

export interface Difference {
  /** `body.messages[2].content[0].text` */
  readonly at: string;
  readonly expected: JsonValue | undefined;
  readonly sent: JsonValue | undefined;
}

const SHOWN = 12;
const SHOWN_CHARACTERS = 300;
const SHOWN_LINES = 40;

export function differences(expected: TapedRequest, sent: TapedRequest): readonly Difference[] {
  const found: Difference[] = [];
  for (const part of ["method", "path", "headers", "body"] as const) compare(expected[part], sent[part], part, found);
  return found;
}

function compare(expected: JsonValue | undefined, sent: JsonValue | undefined, at: string, found: Difference[]): void {
  if (Array.isArray(expected) && Array.isArray(sent)) {
    const length = Math.max(expected.length, sent.length);
    for (let i = 0; i < length; i++) compare(expected[i], sent[i], `${at}[${i}]`, found);
  } else if (isJsonObject(expected) && isJsonObject(sent)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(sent)]);
    for (const key of [...keys].sort()) compare(expected[key], sent[key], `${at}.${key}`, found);
  } else if (JSON.stringify(expected) !== JSON.stringify(sent)) {
    found.push({ at, expected, sent });
  }
}

export function describeDifferences(found: readonly Difference[]): string {
  const shown = found.slice(0, SHOWN).map(({ at, expected, sent }) => `at ${at}\n${indent(describe(expected, sent))}`);
  const rest = found.length - shown.length;
  return [...shown, ...(rest > 0 ? [`… and ${rest} more`] : [])].join("\n");
}

function describe(expected: JsonValue | undefined, sent: JsonValue | undefined): string {
  if (typeof expected === "string" && typeof sent === "string" && /\n/.test(expected + sent)) {
    return diffText(`${expected}\n`, `${sent}\n`, { maxLines: SHOWN_LINES }).text.trimEnd();
  }
  return `expected  ${show(expected)}\nsent      ${show(sent)}`;
}

function show(value: JsonValue | undefined): string {
  if (value === undefined) return "(nothing)";
  const text = JSON.stringify(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}… (${text.length} characters)` : text;
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
