/** Problems of a server as people read them. */
import { safeText } from "../../base/terminal-text.js";

const MOST = 5;

/** The first ones, and how many more there are: a server may have thousands. Each ends the sentence "The MCP server 'NAME' …". */
export function few(problems: readonly string[]): readonly string[] {
  if (problems.length <= MOST) return problems;
  return [...problems.slice(0, MOST), `has ${problems.length - MOST} more problems like these`];
}

const MOST_REASON = 500;

/** The library describes a wrong answer in hundreds of lines. */
export function reasonOf(error: unknown): string {
  const words = safeText(error instanceof Error ? error.message : String(error))
    .replaceAll(/\s+/g, " ")
    .trim();
  return words.length > MOST_REASON ? `${words.slice(0, MOST_REASON)}…` : words;
}
