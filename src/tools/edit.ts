/** Replaces quoted text in one file. */
import { diffText } from "../base/diff.js";
import type { Tool, ToolOutcome } from "../engine/ports.js";
import { ownText } from "../protocol/content.js";
import { CATALOG } from "./catalog.js";
import { type EditArguments, readEditArguments } from "./edit/arguments.js";
import { ChangeError } from "./edit/change-error.js";
import { applyEdits } from "./edit/replace.js";
import { failed, failedWith } from "./file-tool.js";
import { printable } from "./files/printable.js";
import { type Workspace, WorkspaceError, type WriteResult } from "./workspace.js";

export function createEditTool(workspace: Workspace): Tool {
  return {
    ...CATALOG.edit,
    async run(args, { granted }) {
      const request = readEditArguments(args);
      if (typeof request === "string") return failed(request);
      try {
        return await workspace.exclusive([request.path], () => edit(workspace.allowing(granted), request));
      } catch (error) {
        if (error instanceof ChangeError || error instanceof WorkspaceError) return failedWith(error);
        throw error;
      }
    },
  };
}

async function edit(workspace: Workspace, { path, edits }: EditArguments): Promise<ToolOutcome> {
  const [first] = edits;
  const creates = edits.length === 1 && first?.old === "" && first.new !== "";
  const place = await workspace.resolve(path, "write");
  if (creates && !place.exists) return report(await workspace.writeText(path, first.new), { count: 1, loose: 0 });
  // This read does not count as the session's own, so that the write still detects a file that changed since.
  const file = await workspace.readText(path, { purpose: "look" });
  if (creates && file.text === "") {
    return report(await workspace.writeText(path, first.new, { basis: file.version }), { count: 1, loose: 0 });
  }
  const replaced = applyEdits(file.text, edits);
  // A quotation that is there exactly and once means the same place, whatever else has changed.
  const despiteChange = replaced.loose === 0 && replaced.count === edits.length;
  return report(await workspace.writeText(path, replaced.text, { basis: file.version, despiteChange }), replaced);
}

function report(written: WriteResult, { count, loose }: { count: number; loose: number }): ToolOutcome {
  const path = written.path.display;
  const shown = printable(path);
  const { text: diff, added, removed } = diffText(written.before, written.after);
  const what = written.created ? `Created ${shown}` : `Edited ${shown}: ${count} replacement${count === 1 ? "" : "s"}`;
  const notes = [
    ...(loose === 0 ? [] : [` ${loose} matched although the quotation differs from the file.`]),
    ...(written.hadChanged ? [" The file had changed since you read it; the quoted text was still there, once."] : []),
  ];
  return {
    status: "ok",
    content: [ownText(`${what} (+${added} -${removed} lines).${notes.join("")}`)],
    details: { path, created: written.created, replacements: count, added, removed, diff },
  };
}
