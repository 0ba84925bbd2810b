/** The tools of one run: the built-in ones of the chosen sets, found by name or by the names other harnesses use (T1, T2). */
import type { Tool, ToolRegistry, ToolSet } from "../engine/ports.js";
import { BackgroundCommands } from "../tools/background.js";
import { createBashTool } from "../tools/bash.js";
import { childEnvironment } from "../tools/child-environment.js";
import { createFileTools } from "../tools/file-tools.js";
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

export function openToolbox(options: ToolboxOptions): Toolbox {
  const environment = childEnvironment(options.variables);
  const background = new BackgroundCommands();
  const all: readonly Tool[] = [
    ...createFileTools(options.workspace, { path: options.variables.PATH ?? "" }),
    createBashTool({ workspaceRoot: options.workspace.root, environment, outputDirectory: options.outputDirectory, background }),
  ];
  const offered = all.filter((tool) => options.sets.includes(tool.set));
  const byName = new Map(offered.map((tool) => [tool.name, tool]));
  return {
    list: () => offered,
    find: (name) => byName.get(name),
    close: async () => background.close(),
  };
}
