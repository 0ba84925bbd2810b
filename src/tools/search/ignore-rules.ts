/**
 * Ignore files (`.gitignore`, `.ignore`, `.rgignore`) as ripgrep interprets them.
 *
 * 1. In one file the last pattern that matches decides; a `!` pattern includes again.
 * 2. For each kind of ignore file, the nearest folder with a matching pattern decides. Then `.rgignore` overrides `.ignore`, and that
 *    overrides `.gitignore`.
 * 3. `.gitignore` files above a repository's own folder do not apply in it.
 * 4. A folder that is ignored is not entered, so nothing below it can be included again.
 */
import type { TextPattern } from "../../base/star-pattern.js";
import { globMatcher } from "./glob-pattern.js";

/** Stronger first. */
export const IGNORE_FILES = [".rgignore", ".ignore", ".gitignore"] as const;
export type IgnoreFileName = (typeof IGNORE_FILES)[number];

/** Folders of version control systems: never searched. */
export const HIDDEN_ALWAYS: ReadonlySet<string> = new Set([".git", ".hg", ".svn", ".jj", ".sl", ".bzr"]);

interface Rule {
  readonly matcher: TextPattern;
  readonly takesBack: boolean;
  readonly foldersOnly: boolean;
}

export type Rules = readonly Rule[];

export function parseIgnoreFile(content: string): Rules {
  const lines = content.replace(/^\ufeff/, "").split("\n");
  return lines.map(parseLine).filter((rule) => rule !== undefined);
}

function parseLine(raw: string): Rule | undefined {
  let line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
  if (line.startsWith("#")) return undefined;
  if (!line.endsWith("\\ ")) line = line.trimEnd();
  if (line === "") return undefined;
  const takesBack = line.startsWith("!");
  if (takesBack) line = line.slice(1);
  const anchored = line.startsWith("/");
  if (anchored) line = line.slice(1);
  const foldersOnly = line.endsWith("/");
  if (foldersOnly) line = line.slice(0, -1);
  if (line === "") return undefined;
  if (!anchored && !line.includes("/")) line = `**/${line}`;
  if (line.endsWith("/**")) line = `${line}/*`;
  const matcher = globMatcher(line);
  return matcher && { matcher, takesBack, foldersOnly };
}

type Verdict = "ignored" | "kept" | undefined;

function verdict(rules: Rules, path: string, kind: "file" | "folder"): Verdict {
  for (let i = rules.length - 1; i >= 0; i--) {
    const rule = rules[i] as Rule;
    if (rule.foldersOnly && kind !== "folder") continue;
    if (rule.matcher.test(path)) return rule.takesBack ? "kept" : "ignored";
  }
  return undefined;
}

/** The ignore files of one folder, and through its parent those of the folders above. */
export class IgnoreScope {
  readonly #parent: IgnoreScope | undefined;
  /** The folder's own name, to build paths relative to the folders above. */
  readonly #name: string;
  readonly #rules: Partial<Record<IgnoreFileName, Rules>>;
  readonly #isRepository: boolean;

  constructor(options: {
    readonly parent?: IgnoreScope | undefined;
    readonly name: string;
    readonly rules: Partial<Record<IgnoreFileName, Rules>>;
    /** Has its own `.git`. */
    readonly isRepository: boolean;
  }) {
    this.#parent = options.parent;
    this.#name = options.name;
    this.#rules = options.rules;
    this.#isRepository = options.isRepository;
  }

  /** Tells whether the entry `name` of this folder is ignored. */
  ignores(name: string, kind: "file" | "folder"): boolean {
    for (const file of IGNORE_FILES) {
      const found = this.#decide(file, name, kind);
      if (found !== undefined) return found === "ignored";
    }
    return false;
  }

  #decide(file: IgnoreFileName, name: string, kind: "file" | "folder"): Verdict {
    let path = name;
    let scope: IgnoreScope | undefined = this;
    while (scope !== undefined) {
      const rules: Rules | undefined = scope.#rules[file];
      const found = rules === undefined ? undefined : verdict(rules, path, kind);
      if (found !== undefined) return found;
      if (file === ".gitignore" && scope.#isRepository) return undefined;
      path = `${scope.#name}/${path}`;
      scope = scope.#parent;
    }
    return undefined;
  }
}
