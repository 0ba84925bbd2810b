/** The model's to-do list. */
import { safeLine } from "../../../base/terminal-text.js";
import type { JsonObject } from "../../../protocol/json.js";
import type { Role, Theme } from "../theme.js";
import { span } from "./spans.js";
import { wrapSpans } from "./wrap.js";

const STATES: Readonly<Record<string, { mark: string; ascii: string; roles: readonly Role[] }>> = {
  done: { mark: "☑", ascii: "[x]", roles: ["dim"] },
  in_progress: { mark: "▸", ascii: "[>]", roles: ["strong"] },
  pending: { mark: "☐", ascii: "[ ]", roles: [] },
};

/** Also for the view of the current list. */
export function todoLines(
  details: JsonObject | undefined,
  { width, theme }: { width: number; theme: Theme },
): string[] {
  const todos = Array.isArray(details?.todos) ? details.todos : [];
  return todos.flatMap((todo) => {
    if (typeof todo !== "object" || todo === null || Array.isArray(todo)) return [];
    const { text, status } = todo as JsonObject;
    const { mark, ascii, roles } = STATES[String(status)] ?? (STATES.pending as (typeof STATES)[string]);
    const lead = `${theme.ascii ? ascii : mark} `;
    const cells = lead.length;
    return wrapSpans([span(safeLine(String(text ?? "")), ...roles)], {
      width,
      theme,
      first: { text: theme.accent(lead), width: cells },
      rest: { text: " ".repeat(cells), width: cells },
    });
  });
}
