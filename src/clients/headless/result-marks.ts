import type { EventPayloads } from "../../protocol/events.js";

export const RESULT_MARKS: Readonly<Record<EventPayloads["ToolResult"]["status"], string>> = {
  ok: "✓",
  error: "✗",
  denied: "⊘",
  cancelled: "✗",
  timeout: "✗",
  skipped: "–",
};
