/** The marks at the beginning of lines, and their ASCII variants. */
import type { ToolStatus } from "../../../protocol/events.js";
import type { Role, Theme } from "../theme.js";
import { type Span, span } from "./spans.js";

const TOOL_MARKS: Readonly<Record<ToolStatus | "running", { mark: string; ascii: string; role: Role }>> = {
  running: { mark: "●", ascii: "*", role: "accent" },
  ok: { mark: "✓", ascii: "+", role: "success" },
  error: { mark: "✗", ascii: "x", role: "danger" },
  denied: { mark: "⊘", ascii: "!", role: "warning" },
  cancelled: { mark: "✗", ascii: "x", role: "warning" },
  timeout: { mark: "✗", ascii: "x", role: "danger" },
  skipped: { mark: "–", ascii: "-", role: "dim" },
};

export function toolMark(status: ToolStatus | "running", theme: Theme): Span {
  const { mark, ascii, role } = TOOL_MARKS[status];
  return span(theme.ascii ? ascii : mark, role);
}

export function ellipsis(theme: Theme): string {
  return theme.ascii ? "..." : "…";
}

/** Between two facts on one line. */
export function dot(theme: Theme): Span {
  return span(theme.ascii ? " - " : " · ", "dim");
}
