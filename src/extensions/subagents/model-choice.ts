/** Which model an agent type means: a name that another harness uses, or a model of this place. */

export type ClaudeAlias = "haiku" | "sonnet" | "opus";

const ALIASES: readonly string[] = ["haiku", "sonnet", "opus"];

export function isClaudeAlias(name: string): name is ClaudeAlias {
  return ALIASES.includes(name);
}

/** The newest model of a list that matches an alias; an undated name before a dated one. */
export function newestOf(alias: ClaudeAlias, ids: readonly string[]): string | undefined {
  const meant = ids.filter(
    (id) =>
      /claude/i.test(id) &&
      id
        .toLowerCase()
        .split(/[^a-z]+/)
        .includes(alias),
  );
  return meant.sort((a, b) => compareVersions(b, a) || a.length - b.length)[0];
}

/** A file of another harness may name one of its own models, which this provider may not have. */
export function isForeignName(model: string): boolean {
  return isClaudeAlias(model) || (/^claude-/.test(model) && !model.includes(":"));
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [versionOf(a), versionOf(b)];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** `claude-3-5-haiku-20241022` is version 3.5; a date is not part of it. */
function versionOf(id: string): readonly number[] {
  return [...id.matchAll(/\d+/g)].map(([digits]) => Number(digits)).filter((number) => number < 100);
}
