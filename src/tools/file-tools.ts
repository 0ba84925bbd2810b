/** The built-in tools that read, search and write files. */
import type { Tool } from "../engine/ports.js";
import { createGlobTool } from "./glob.js";
import { createGrepTool } from "./grep.js";
import { createLsTool } from "./ls.js";
import { createReadTool } from "./read.js";
import { Searcher, type SearcherOptions } from "./search/searcher.js";
import type { Workspace } from "./workspace.js";
import { createWriteTool } from "./write.js";

export type FileToolsOptions = SearcherOptions;

export function createFileTools(workspace: Workspace, options: FileToolsOptions = {}): readonly Tool[] {
  const searcher = new Searcher(workspace, options);
  return [
    createReadTool(workspace),
    createLsTool(workspace),
    createGlobTool(workspace, searcher),
    createGrepTool(workspace, searcher),
    createWriteTool(workspace),
  ];
}
