/**
 * Decides which tools, or which other names, a hook is for.
 *
 * Nothing, `""` and `*` match everything. Names with `|` or `,` between them match exactly. Anything else is a regular expression
 * that may match anywhere in a name.
 */

export interface Matcher {
  matches(name: string): boolean;
  /** The reason why it is invalid; it then matches nothing. */
  readonly problem?: string;
}

const NAMES_ONLY = /^[\w\- ,|]*$/;
const EVERYTHING: Matcher = { matches: () => true };

export function parseMatcher(written: string | undefined): Matcher {
  const text = written?.trim() ?? "";
  if (text === "" || text === "*") return EVERYTHING;
  if (NAMES_ONLY.test(text)) {
    const names = new Set(text.split(/[|,]/).map((name) => name.trim()));
    return names.has("") && names.size === 1 ? EVERYTHING : { matches: (name) => names.has(name) };
  }
  try {
    const pattern = new RegExp(text);
    return { matches: (name) => pattern.test(name) };
  } catch {
    return { matches: () => false, problem: `the matcher ${JSON.stringify(text)} is not a regular expression.` };
  }
}
