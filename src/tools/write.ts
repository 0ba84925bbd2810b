import { diffText } from "../base/diff.js";
import type { Tool } from "../engine/ports.js";
import { CATALOG } from "./catalog.js";
import { counted, done, fileTool } from "./file-tool.js";
import { printable } from "./files/printable.js";
import type { Workspace } from "./workspace.js";

export function createWriteTool(workspace: Workspace): Tool {
  return fileTool(CATALOG.write, async (args, { granted }) => {
    const result = await workspace.allowing(granted).writeText(args.text("path"), args.text("content"));
    const { added, removed, text } = diffText(result.before, result.after);
    const shown = printable(result.path.display);
    const details = { path: result.path.display, created: result.created, changed: result.changed, added, removed };
    if (!result.changed) return done(`${shown} already has this content.`, details);
    const message = result.created
      ? `Created ${shown}: ${counted(added, "line")}.`
      : `Updated ${shown}: +${added} -${removed} lines.`;
    return done(message, { ...details, diff: text });
  });
}
