/** Other names for our tools, used by models that were trained on other harnesses. */

export interface ToolAlias {
  readonly tool: string;
  /** Argument names of other harnesses mapped to ours. An argument with our name stays. */
  readonly args: Readonly<Record<string, string>>;
}

const PATH = { file_path: "path", filename: "path", file: "path" };
const FOLDER = { directory: "path", dir: "path", dir_path: "path" };

export const TOOL_ALIASES: Readonly<Record<string, ToolAlias>> = {
  read_file: { tool: "read", args: { ...PATH, start_line: "offset", line_limit: "limit" } },
  write_file: { tool: "write", args: { ...PATH, contents: "content", text: "content" } },
  str_replace: { tool: "edit", args: PATH },
  fetch: { tool: "web_fetch", args: { uri: "url" } },
  list_dir: { tool: "ls", args: FOLDER },
};

/** The call with our names; unchanged if the name is not an alias. */
export function withoutAlias<T>(
  tool: string,
  args: Readonly<Record<string, T>>,
): { tool: string; args: Record<string, T> } {
  const alias = Object.hasOwn(TOOL_ALIASES, tool) ? TOOL_ALIASES[tool] : undefined;
  if (alias === undefined) return { tool, args: { ...args } };
  const renamed: Record<string, T> = {};
  for (const [name, value] of Object.entries(args)) {
    const ours = Object.hasOwn(alias.args, name) ? (alias.args[name] as string) : name;
    if (ours === name || !Object.hasOwn(args, ours)) renamed[ours] = value;
  }
  return { tool: alias.tool, args: renamed };
}
