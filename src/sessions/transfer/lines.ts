/** Lines of a transcript: as text from bytes, and as JSON objects with their numbers. */

import { Utf8Stream } from "../../base/utf8-stream.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import type { ImportNotes } from "./notes.js";

export interface SourceLine {
  /** From 1. */
  readonly number: number;
  readonly value: JsonObject;
}

/** The lines of a file, blank ones too. Only a line feed ends a line: JSON text may contain U+2028. */
export async function* linesOf(file: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const utf8 = new Utf8Stream();
  let partial = "";
  for await (const bytes of file) {
    const lines = (partial + utf8.push(bytes)).split("\n");
    partial = lines.pop() ?? "";
    yield* lines;
  }
  partial += utf8.end();
  if (partial !== "") yield partial;
}

/** Lines that are not JSON objects are reported and dropped. */
export async function* parseLines(lines: AsyncIterable<string>, notes: ImportNotes): AsyncGenerator<SourceLine> {
  let number = 0;
  for await (const line of lines) {
    number++;
    const value = parseLine(line);
    if (value === undefined) continue;
    if (typeof value === "string") notes.damaged(number, value);
    else yield { number, value };
  }
}

/** Undefined for a blank line, the reason for a damaged one. */
export function parseLine(line: string): JsonObject | string | undefined {
  if (line.trim() === "") return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : "it is not a JSON object";
  } catch {
    return "it is not JSON";
  }
}
