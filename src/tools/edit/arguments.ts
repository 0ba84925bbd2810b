/** The arguments of the edit tool. The schema check came before, but a library user may skip it. */
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import type { Replacement } from "./replace.js";

export interface EditArguments {
  readonly path: string;
  readonly edits: readonly Replacement[];
}

/** The arguments, or a sentence that describes the mistake. */
export function readEditArguments({ path, edits }: JsonObject): EditArguments | string {
  if (typeof path !== "string" || path === "") return '"path" must be the path of a file.';
  if (!Array.isArray(edits) || edits.length === 0)
    return '"edits" must be a list of { "old", "new" } with at least one entry.';
  const out: Replacement[] = [];
  for (const [index, edit] of edits.entries()) {
    if (!isJsonObject(edit) || typeof edit.old !== "string" || typeof edit.new !== "string") {
      return `"edits[${index}]" must have "old" and "new", both strings.`;
    }
    const { old, new: fresh, all, count } = edit;
    out.push({ old, new: fresh, all: all === true, ...(typeof count === "number" && { count }) });
  }
  return { path, edits: out };
}
