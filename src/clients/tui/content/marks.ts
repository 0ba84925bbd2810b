/** The marks at the beginning of lines. */
import type { ToolStatus } from "../../../protocol/events.js";
import type { Role } from "../theme.js";
import { type Span, span } from "./spans.js";

const TOOL_MARKS: Readonly<Record<ToolStatus | "running", { mark: string; role: Role }>> = {
  running: { mark: "●", role: "accent" },
  ok: { mark: "✓", role: "success" },
  error: { mark: "✗", role: "danger" },
  denied: { mark: "⊘", role: "warning" },
  cancelled: { mark: "✗", role: "warning" },
  timeout: { mark: "✗", role: "danger" },
  skipped: { mark: "–", role: "dim" },
};

export function toolMark(status: ToolStatus | "running"): Span {
  const { mark, role } = TOOL_MARKS[status];
  return span(mark, role);
}

export const ELLIPSIS = "…";

/** Between two facts on one line. */
export const DOT: Span = span(" · ", "dim");
