/**
 * Applies a patch to files of the workspace.
 *
 * 1. The whole patch is parsed, placed and checked in memory before the first byte is written.
 * 2. If a write still fails, the earlier writes are reverted.
 * 3. Symbolic links are not followed: a patch names the files it changes.
 */
import { diffText } from "../base/diff.js";
import { schemaProblems } from "../base/json-schema.js";
import type { Tool, ToolOutcome } from "../engine/ports.js";
import { ownText } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";
import { CATALOG } from "./catalog.js";
import { ChangeError } from "./edit/change-error.js";
import { failed, failedWith } from "./file-tool.js";
import { printable } from "./files/printable.js";
import type { FileChange } from "./patch/changes.js";
import { commit, HalfAppliedError } from "./patch/commit.js";
import { parsePatch } from "./patch/parse.js";
import { type PlannedFile, planPatch } from "./patch/plan.js";
import { type Workspace, WorkspaceError } from "./workspace.js";

export function createApplyPatchTool(workspace: Workspace): Tool {
  return {
    ...CATALOG.apply_patch,
    check,
    async run(args, { signal, granted }) {
      const { patch } = args;
      if (typeof patch !== "string" || patch.trim() === "") return failed('"patch" must be the text of a patch.');
      try {
        const changes = parsePatch(patch);
        return await workspace.exclusive(pathsOf(changes), async () => {
          const allowed = workspace.allowing(granted);
          const files = await planPatch(allowed, changes);
          if (signal.aborted) return { status: "cancelled", content: [ownText("Cancelled. Nothing was changed.")] };
          await commit(allowed, files);
          return report(files);
        });
      } catch (error) {
        if (error instanceof HalfAppliedError) return failedWith(error);
        if (!(error instanceof ChangeError || error instanceof WorkspaceError)) throw error;
        return failed(`No file was changed. ${error.message}`, error.quoted);
      }
    },
  };
}

/** A patch that cannot be read is an error of the call, not a question for the user. */
function check(args: JsonObject): readonly string[] {
  const problems = schemaProblems(CATALOG.apply_patch.inputSchema, args);
  if (problems.length > 0) return problems;
  try {
    parsePatch(String(args.patch));
    return [];
  } catch (error) {
    if (!(error instanceof ChangeError)) throw error;
    return [error.message.replace(/\.$/, "")];
  }
}

function pathsOf(changes: readonly FileChange[]): readonly string[] {
  return changes.flatMap((change) =>
    change.kind === "update" && change.moveTo !== undefined ? [change.path, change.moveTo] : [change.path],
  );
}

const LETTERS = { added: "A", changed: "M", deleted: "D", moved: "R" } as const;

function report(files: readonly PlannedFile[]): ToolOutcome {
  const moved = new Set(files.flatMap((file) => file.movedFrom?.path.absolute ?? []));
  const named = files.filter((file) => file.after !== undefined || !moved.has(file.path.absolute));
  const shown = named.map((file) => {
    const before = file.movedFrom ?? file.before;
    const { text: diff, added, removed } = diffText(before?.text ?? "", file.after ?? "");
    const from = file.movedFrom?.path.display;
    const path = file.path.display;
    return { path, kind: kindOf(file), added, removed, diff, ...(from === undefined ? {} : { from }) };
  });
  const added = shown.reduce((sum, file) => sum + file.added, 0);
  const removed = shown.reduce((sum, file) => sum + file.removed, 0);
  const lines = shown.map(({ kind, path, from, ...counts }) => {
    const name = from === undefined ? printable(path) : `${printable(from)} to ${printable(path)}`;
    return `${LETTERS[kind]} ${name} (+${counts.added} -${counts.removed})`;
  });
  return {
    status: "ok",
    content: [ownText(`Patch applied:\n${lines.join("\n")}`)],
    details: { files: shown, added, removed, diff: shown.map((file) => `${file.path}\n${file.diff}`).join("\n") },
  };
}

function kindOf(file: PlannedFile): keyof typeof LETTERS {
  if (file.after === undefined) return "deleted";
  if (file.movedFrom !== undefined) return "moved";
  return file.before === undefined ? "added" : "changed";
}
