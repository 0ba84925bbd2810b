/** Proposals for memories that a model makes from a conversation. They are only shown; a person saves them. */
import { isMemoryType, type MemoryType } from "./entry.js";
import prompt from "./extract-prompt.md";
import { MOST_BODY_CHARS } from "./folder.js";

export interface Proposal {
  readonly type: MemoryType;
  readonly scope: "user" | "project";
  readonly body: string;
}

export const EXTRACT_PROMPT = prompt.trim();
const MOST = 5;

/** Tells what a model wrote, as far as it can be read. */
export function readProposals(answer: string): readonly Proposal[] {
  const lines = answer.split("\n").map((line) =>
    line
      .trim()
      .replace(/^[-*\d.]+\s*/, "")
      .replace(/,$/, ""),
  );
  return lines.flatMap((line) => proposalOf(line) ?? []).slice(0, MOST);
}

function proposalOf(line: string): Proposal | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const { type, content } = JSON.parse(line) as { readonly type?: unknown; readonly content?: unknown };
    if (typeof type !== "string" || !isMemoryType(type) || typeof content !== "string") return undefined;
    const body = content.trim().slice(0, MOST_BODY_CHARS);
    if (body === "") return undefined;
    return { type, scope: type === "user" || type === "feedback" ? "user" : "project", body };
  } catch {
    return undefined;
  }
}
