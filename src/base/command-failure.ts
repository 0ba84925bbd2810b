/** Describes how a command failed, for the screen: its exit code, and its output without the note for the model. */
import type { EventPayloads } from "../protocol/events.js";

export interface CommandFailure {
  /** `exit code 2`, `killed by SIGSEGV`, `timed out after 5m …`. */
  readonly ending: string;
  readonly output: string;
}

/** Undefined for a successful call, and for tools that run no command. */
export function commandFailure({
  status,
  content,
  details,
}: Pick<EventPayloads["ToolResult"], "status" | "content"> & {
  readonly details?: EventPayloads["ToolResult"]["details"] | undefined;
}): CommandFailure | undefined {
  if (status === "ok" || details === undefined || !("exit_code" in details)) return undefined;
  const lines = content
    .map((block) => (block.type === "text" ? block.text : ""))
    .join("\n")
    .trimEnd()
    .split("\n");
  const noteAt = lines.findLastIndex((line) => /^\[(exit code|killed by|timed out|cancelled) ?.*\]$/.test(line));
  const output = lines.filter((_, at) => at !== noteAt).join("\n");
  const { exit_code: code, signal } = details;
  if (noteAt !== -1) return { ending: lines[noteAt]?.slice(1, -1).split(";")[0] ?? "", output };
  if (typeof code === "number") return { ending: `exit code ${code}`, output };
  return { ending: typeof signal === "string" ? `killed by ${signal}` : status, output };
}

/** The last lines of a text, and the number of lines before them. */
export function lastLines(text: string, most: number): string {
  const lines = text.trimEnd().split("\n");
  const left = lines.length - most;
  if (left <= 0) return text.trimEnd();
  return [`… ${left} line${left === 1 ? "" : "s"} before`, ...lines.slice(left)].join("\n");
}
