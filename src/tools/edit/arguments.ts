/** The arguments of the edit tool, including the names that models know from other harnesses. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import type { Replacement } from "./replace.js";

export interface EditArguments {
  readonly path: string;
  readonly edits: readonly Replacement[];
}

const NAMES = {
  path: ["path", "file_path", "filePath", "file", "filename"],
  edits: ["edits", "replacements", "changes"],
  old: ["old", "old_string", "oldString", "old_str", "oldText", "old_text", "search", "find"],
  new: ["new", "new_string", "newString", "new_str", "newText", "new_text", "replace", "replacement"],
  all: ["all", "replace_all", "replaceAll", "allow_multiple"],
} as const;

/**
 * Converts the arguments to the form of the schema: replaces known other names, puts a single edit into a list, and parses a list
 * that came as JSON text. Other values stay unchanged, so that the schema check reports them.
 */
export function canonicalEditArguments(args: JsonObject): JsonObject {
  const path = pick(args, "path");
  const list = listOf(pick(args, "edits"));
  const own = canonicalEdit(args);
  const edits = Array.isArray(list) ? list.map((edit) => (isJsonObject(edit) ? canonicalEdit(edit) : edit)) : list;
  const flat = own.old === undefined && own.new === undefined ? undefined : [own];
  return defined({ path, edits: edits ?? flat });
}

/** The arguments, or a sentence that describes the mistake. */
export function readEditArguments(args: JsonObject): EditArguments | string {
  const { path, edits } = canonicalEditArguments(args);
  if (typeof path !== "string" || path === "") return '"path" must be the path of a file.';
  if (!Array.isArray(edits) || edits.length === 0)
    return '"edits" must be a list of { "old", "new" } with at least one entry.';
  const out: Replacement[] = [];
  for (const [index, edit] of edits.entries()) {
    if (!isJsonObject(edit) || typeof edit.old !== "string" || typeof edit.new !== "string") {
      return `"edits[${index}]" must have "old" and "new", both strings.`;
    }
    out.push({ old: edit.old, new: edit.new, all: edit.all === true });
  }
  return { path, edits: out };
}

function canonicalEdit(edit: JsonObject): JsonObject {
  const all = pick(edit, "all");
  return defined({ old: pick(edit, "old"), new: pick(edit, "new"), all: all === "true" ? true : all });
}

function listOf(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== "string") return isJsonObject(value) ? [value] : value;
  try {
    return listOf(JSON.parse(value) as JsonValue);
  } catch {
    return value;
  }
}

function pick(args: JsonObject, field: keyof typeof NAMES): JsonValue | undefined {
  const name = NAMES[field].find((each) => args[each] !== undefined && args[each] !== null);
  return name === undefined ? undefined : args[name];
}

function defined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
