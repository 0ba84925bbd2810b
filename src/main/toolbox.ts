/** The tools of one run: the built-in ones of the chosen sets, found by name or by the names other harnesses use (T1, T2). */
import type { Tool, ToolRegistry, ToolSet } from "../engine/ports.js";
import { createApplyPatchTool } from "../tools/apply-patch.js";
import { BackgroundCommands, createBackgroundTool } from "../tools/background.js";
import { createBashTool } from "../tools/bash.js";
import { createEditTool } from "../tools/edit.js";
import { createFileTools } from "../tools/file-tools.js";
import { createGitTool } from "../tools/git.js";
import { createTodoTool } from "../tools/todo.js";
import { TOOL_ALIASES, withoutAlias } from "../tools/tool-aliases.js";
import type { Workspace } from "../tools/workspace.js";
import type { Variables } from "./env.js";

export interface ToolboxOptions {
  readonly workspace: Workspace;
  readonly sets: readonly ToolSet[];
  readonly variables: Variables;
  readonly outputDirectory: string;
}

export interface Toolbox extends ToolRegistry {
  close(): Promise<void>;
}

export function openToolbox({ workspace, sets, variables, outputDirectory }: ToolboxOptions): Toolbox {
  const background = new BackgroundCommands();
  const place = { workspaceRoot: workspace.root, environment: variables };
  const all: readonly Tool[] = [
    ...createFileTools(workspace, { path: variables.PATH, avoid: [workspace.root] }),
    createEditTool(workspace),
    createApplyPatchTool(workspace),
    createBashTool({ ...place, outputDirectory, background }),
    createBackgroundTool(background),
    createGitTool(place),
    createTodoTool(),
  ];
  const offered = all.filter((tool) => sets.includes(tool.set));
  const byName = new Map(offered.map((tool) => [tool.name, tool]));
  for (const [alias, { tool: name }] of Object.entries(TOOL_ALIASES)) {
    const tool = byName.get(name);
    if (tool !== undefined) byName.set(alias, underAlias(alias, tool));
  }
  return { list: () => offered, find: (name) => byName.get(name), close: async () => background.close() };
}

function underAlias(alias: string, tool: Tool): Tool {
  return {
    ...tool,
    canonical: (args) => {
      const renamed = withoutAlias(alias, args).args;
      return tool.canonical?.(renamed) ?? renamed;
    },
  };
}
