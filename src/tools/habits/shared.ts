/** What several tables of habits have in common. */
import type { JsonObject, JsonValue } from "../../protocol/json.js";

export const PATH = [
  ...["file_path", "filepath", "file", "filename", "file_name", "absolute_path", "abs_path", "relative_path"],
  ...["target_file", "target_path", "pathname", "uri", "full_path", "resource"],
] as const;

export const FOLDER = [
  ...["dir_path", "directory", "directory_path", "dir", "folder", "folder_path", "root", "base_path", "search_path"],
  ...["search_directory", "target_directory", "relative_workspace_path", "absolute_path", "file_path", "cwd"],
] as const;

/** What models say about a call: it changes nothing. */
export const WORDS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...["description", "explanation", "reason", "reasoning", "justification", "thought", "thoughts", "instruction"],
    ...["instructions", "intent", "purpose", "title", "goal", "comment", "summary", "taskprogress", "toolsummary"],
    ...["toolaction", "waitforpreviously", "waitforprevioustools", "waitforprevious", "securityrisk", "userfacing"],
    ...["requestid", "toolcallid", "callid", "aiproposedcontent", "modifiedbyuser", "initialcontent", "caption"],
  ].map((name) => [name, ""]),
);

/** The arguments without some of them. */
export function without(args: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)));
}

/** A number, also as text. */
export function numberIn(value: JsonValue | undefined): number | undefined {
  const number = typeof value === "string" && /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
  return typeof number === "number" ? number : undefined;
}

export function isTrue(value: JsonValue | undefined): boolean {
  return value === true || value === 1 || (typeof value === "string" && /^(true|yes|1)$/i.test(value.trim()));
}

export function isFalse(value: JsonValue | undefined): boolean {
  return value === false || value === 0 || (typeof value === "string" && /^(false|no|0)$/i.test(value.trim()));
}

/** A list, also as JSON text. */
export function listIn(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== "string" || !value.trimStart().startsWith("[")) return undefined;
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) ? (list as readonly JsonValue[]) : undefined;
  } catch {
    return undefined;
  }
}
