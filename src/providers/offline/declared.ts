/** What a project's own files declare, by the table of facts. */
import type { JsonObject } from "../../protocol/json.js";
import table from "./facts.txt";
import { type FileText, joinedText } from "./outputs/file-text.js";
import { parseManifest, stringEntries } from "./project-files.js";
import { type Row, rowsOf } from "./rows.js";
import { bulleted, code } from "./wording.js";

export interface Declared {
  readonly file: string;
  /** ` (scripts)`, if the fact is in a part of the file. */
  readonly part: string;
  /** One line, or a list. */
  readonly value: string;
}

/** The rows of the table that answer a question. */
export function sourcesOf(question: string): readonly Row[] {
  return rowsOf(table).filter(([name]) => name === question);
}

export function declaredIn(question: string, texts: ReadonlyMap<string, FileText>): readonly Declared[] {
  return sourcesOf(question).flatMap(([, kind = "", file = "", part = ""]) => {
    const text = texts.get(file);
    const value = text === undefined ? "" : declared(text, kind, part);
    return value === "" ? [] : [{ file, value, part: kind === "field" ? ` (${part})` : "" }];
  });
}

function declared(text: FileText, kind: string, part: string): string {
  if (kind === "there") return part;
  if (kind === "field") {
    let value: unknown = parseManifest(text);
    for (const key of part.split(".")) value = (value as JsonObject | undefined)?.[key];
    if (typeof value === "string") return value;
    return listed(stringEntries(value).map(([name, each]) => `${code(name)}: ${each}`));
  }
  const match = new RegExp(part, "m").exec(joinedText(text))?.[1]?.trim() ?? "";
  return kind === "line" ? match : listed(match.split("\n").map((line) => line.trim()));
}

/** Items of a list; an empty text when there are none. */
function listed(items: readonly string[]): string {
  return bulleted(items.filter(Boolean), 100);
}
