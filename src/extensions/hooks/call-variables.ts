/** The variables of a call in the environment of its hooks. */
import type { ToolView } from "./tool-views.js";

const MOST_VARIABLE = 32_000;

/** Not documented, and still what many published hooks read instead of stdin. */
export function callVariables(view: ToolView | undefined): Readonly<Record<string, string>> {
  if (view === undefined) return {};
  const { file_path: file, command } = view.input;
  const found: Record<string, unknown> = {
    ...{ CLAUDE_TOOL_NAME: view.names[0], CLAUDE_TOOL_INPUT: JSON.stringify(view.input) },
    ...{ CLAUDE_TOOL_FILE_PATH: file, CLAUDE_FILE_PATHS: file, CLAUDE_TOOL_COMMAND: command },
  };
  // The kernel refuses a program with longer variables; a NUL ends one.
  const fits = (value: unknown) => typeof value === "string" && value.length <= MOST_VARIABLE && !value.includes("\0");
  return Object.fromEntries(Object.entries(found).filter(([, value]) => fits(value))) as Record<string, string>;
}
