import { join } from "node:path";
import type { Tool } from "../engine/ports.js";
import { CATALOG } from "./catalog.js";
import { ArgumentError, counted, done, fileTool, noted } from "./file-tool.js";
import { printable } from "./files/printable.js";
import { globMatcher } from "./search/glob-pattern.js";
import type { Searcher } from "./search/searcher.js";
import type { Workspace } from "./workspace.js";

const MAX_FILES = 500;

export function createGlobTool(workspace: Workspace, searcher: Searcher): Tool {
  return fileTool(CATALOG.glob, async (args, context) => {
    const { folder, pattern } = await startOf(workspace, args.optionalText("path") ?? ".", args.text("pattern"));
    if (globMatcher(pattern) === undefined)
      throw new ArgumentError(`"${pattern}" is not a well-formed pattern: check its brackets and braces.`);
    const { start, files, total } = await searcher.files(folder, { glob: pattern, limit: MAX_FILES }, context.signal);
    const shown = files.map((path) => workspace.display(join(start.absolute, path)));
    const left = total - shown.length;
    const details = { path: start.display, pattern, files: total, left_out: left };
    if (total === 0) return noted(`No file matches ${pattern}.`, details);
    const note = left > 0 ? [`[${counted(left, "more file")} not shown. Use a narrower pattern or path.]`] : [];
    return done(shown.map(printable).join("\n"), details, note);
  });
}

/**
 * The search starts in the folders that the pattern begins with: this is faster, and it finds files in a folder that is named
 * although it is ignored.
 */
async function startOf(
  workspace: Workspace,
  path: string,
  given: string,
): Promise<{ folder: string; pattern: string }> {
  let pattern = given.replace(/^(\.\/+)+/, "");
  const { kind, path: base } = await workspace.stat(path);
  if (kind !== "folder") throw new ArgumentError(`${printable(base.display)} is a file. Give a folder as path.`);
  for (const root of [base.absolute, workspace.root]) {
    if (pattern.startsWith(`${root}/`)) return startOf(workspace, root, pattern.slice(root.length + 1));
  }
  if (pattern.split("/").includes(".."))
    throw new ArgumentError('"..": patterns look downwards only. Give the folder as path.');
  const anchored = pattern.startsWith("/");
  pattern = pattern.replace(/^\/+/, "");
  if (pattern.endsWith("/")) pattern += "**";
  if (!anchored && !pattern.includes("/")) return { folder: base.absolute, pattern: `**/${pattern}` };
  const parts = pattern.split("/");
  let folder = base.absolute;
  while (parts.length > 1 && !/[*?[\]{}\\]/.test(parts[0] as string)) {
    const found = await workspace.stat(join(folder, parts[0] as string)).catch(() => undefined);
    // The folder is missing: nothing matches, and the search says so.
    if (found?.kind !== "folder") break;
    folder = found.path.absolute;
    parts.shift();
  }
  return { folder, pattern: parts.join("/") };
}
