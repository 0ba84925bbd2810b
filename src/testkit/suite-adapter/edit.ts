/** `edit`: one call of an edit tool in a folder. Formats that Oxbow has no tool for are not offered. */

import type { Tool } from "../../engine/ports.js";
import { readCall } from "../../engine/read-call.js";
import { resultText } from "../../protocol/content.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { createApplyPatchTool } from "../../tools/apply-patch.js";
import { createEditTool } from "../../tools/edit.js";
import { Workspace } from "../../tools/workspace.js";

const TOOLS: Readonly<Record<string, (workspace: Workspace) => Tool>> = {
  string_replace: createEditTool,
  apply_patch: createApplyPatchTool,
};

/** Calls in the same folder belong to one session. */
let session: { readonly cwd: string; readonly workspace: Promise<Workspace> } | undefined;

export async function handleEdit({ cwd, format, request }: JsonObject): Promise<JsonObject> {
  const create = TOOLS[String(format)];
  if (create === undefined) return { unsupported: true };
  if (typeof cwd !== "string" || !isJsonObject(request))
    return { status: "error", message: "cwd and request are needed" };
  if (session?.cwd !== cwd) session = { cwd, workspace: Workspace.open(cwd) };
  const tool = create(await session.workspace);
  // As the engine reads it: models of other harnesses send an edit in other forms.
  const { args, refused } = readCall({ list: () => [tool], find: () => tool }, { tool: tool.name, args: request });
  if (refused !== undefined) return { status: "error", message: refused };
  const outcome = await tool.run(args, { signal: new AbortController().signal, progress: () => {} });
  return { status: outcome.status === "ok" ? "ok" : "error", message: resultText(outcome.content) };
}
