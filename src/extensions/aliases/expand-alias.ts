/** Expands an alias with its arguments. */
import type { Alias } from "./read-aliases.js";

/** `$1`, `$@`, `$*`, `$ARGUMENTS`; `$$` is a dollar sign. */
const PLACEHOLDER = /\$(?:(\$)|([1-9])|([@*]|ARGUMENTS\b))/g;

export interface TypedArguments {
  /** As they were typed. */
  readonly line: string;
  readonly words: readonly string[];
}

/** Without a placeholder the arguments follow the text, as in a shell. */
export function expandAlias(
  { name, target }: Pick<Alias, "name" | "target">,
  { line, words }: TypedArguments,
): { readonly text: string } | { readonly problem: string } {
  const needed = neededArguments(target);
  if (words.length < needed) {
    const count = `${needed} argument${needed === 1 ? "" : "s"}`;
    return { problem: `/${name} needs ${count}, because it stands for: ${target}` };
  }
  let isUsed = false;
  const text = target.replaceAll(PLACEHOLDER, (_whole, dollar?: string, number?: string) => {
    if (dollar !== undefined) return "$";
    isUsed = true;
    return number === undefined ? line : (words[Number(number) - 1] ?? "");
  });
  return { text: isUsed || line === "" ? text : `${text} ${line}` };
}

function neededArguments(target: string): number {
  const numbers = [...target.matchAll(PLACEHOLDER)].map(([, , number]) => Number(number ?? 0));
  return Math.max(0, ...numbers);
}

/** The name of the command that an alias stands for, as typed: `skills:pdf`; undefined for a prompt. */
export function targetName(target: string): string | undefined {
  return /^\/([^\s/$]+)(?:\s|$)/u.exec(target)?.[1];
}

/** `/a` stands for `/b`, which stands for `/a`: returns the names in the cycle, or undefined. */
export function cycleOf(alias: Alias, all: ReadonlyMap<string, Alias>): readonly string[] | undefined {
  const names = [alias.name];
  for (let next = all.get(targetName(alias.target) ?? ""); next !== undefined; ) {
    if (names.includes(next.name)) return [...names, next.name];
    names.push(next.name);
    next = all.get(targetName(next.target) ?? "");
  }
  return undefined;
}
