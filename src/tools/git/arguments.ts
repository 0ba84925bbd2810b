/**
 * What the `git` tool accepts on its command line. Everything that could write a file, run a program or read outside the
 * workspace is absent from the lists, and what is absent is refused.
 *
 * 1. Every word is classified as option, revision or path, and passed to git in that order with `--` before the paths, so
 *    git never has to guess, and never falls back to comparing two files outside the repository.
 * 2. Paths stay inside the workspace by their spelling; git itself does not follow links out of its work tree.
 */
import { resolve } from "node:path";
import { isThere } from "../../system/git/git-folder.js";
import { isInside } from "../files/containment.js";

export const GIT_ACTIONS = ["status", "diff", "log", "show", "blame"] as const;
export type GitAction = (typeof GIT_ACTIONS)[number];

interface ActionRules {
  /** Always passed, before the model's own. */
  readonly fixed: readonly string[];
  /** Passed when the model gives no arguments. */
  readonly byDefault: readonly string[];
  readonly flags: ReadonlySet<string>;
  /** Options with a value: `-n5`, `-n 5`, `--since=x`, `--since x`. */
  readonly valued: ReadonlySet<string>;
}

const words = (list: string) => list.trim().split(/\s+/);

const NO_PROGRAMS = words("--no-ext-diff --no-textconv --no-color --submodule=short --ignore-submodules=dirty");

const DIFF_FLAGS = words(`
  -p -u --patch -s --no-patch --stat --shortstat --numstat --summary --compact-summary --dirstat --name-only --name-status
  --raw --full-index --abbrev -w -b -a --text --ignore-all-space --ignore-space-change --ignore-space-at-eol
  --ignore-blank-lines --ignore-cr-at-eol --minimal --patience --histogram --word-diff -M -C -R --find-renames --find-copies
  --no-renames -W --function-context --check --pickaxe-regex --pickaxe-all --no-prefix -z`);
const DIFF_VALUED = words(`
  -U --unified --inter-hunk-context --diff-filter --diff-algorithm --stat --word-diff --abbrev -M -C --find-renames
  --find-copies -S -G`);

const COMMIT_FLAGS = words("--oneline --abbrev-commit --no-abbrev-commit --decorate --no-decorate --cc --no-notes");
const COMMIT_VALUED = words("--format --pretty --date --decorate");

const RULES: Readonly<Record<GitAction, ActionRules>> = {
  status: {
    fixed: ["--ignore-submodules=dirty"],
    byDefault: ["--short", "--branch"],
    flags: new Set(
      words(`-s --short -b --branch -sb -bs --long --porcelain -u -uno -unormal -uall --untracked-files --ignored
        --show-stash --ahead-behind --no-ahead-behind --renames --no-renames -z`),
    ),
    valued: new Set(words("--porcelain --untracked-files --ignored --find-renames")),
  },
  diff: {
    fixed: NO_PROGRAMS,
    byDefault: [],
    flags: new Set([...DIFF_FLAGS, ...words("--cached --staged --merge-base --exit-code")]),
    valued: new Set(DIFF_VALUED),
  },
  log: {
    fixed: [...NO_PROGRAMS, "--no-show-signature", "--no-mailmap"],
    byDefault: [],
    flags: new Set([
      ...DIFF_FLAGS,
      ...COMMIT_FLAGS,
      ...words(`--all --branches --tags --remotes --graph --merges --no-merges --first-parent --reverse --follow -i
        --regexp-ignore-case -E --extended-regexp -F --fixed-strings --all-match --invert-grep --topo-order --date-order
        --author-date-order --left-right --cherry-pick --cherry-mark --ancestry-path --no-walk --full-history --parents
        --children --boundary`),
    ]),
    valued: new Set([
      ...DIFF_VALUED,
      ...COMMIT_VALUED,
      ...words(`-n --max-count --skip --since --until --after --before --author --committer --grep --branches --tags
        --remotes -L --min-parents --max-parents`),
    ]),
  },
  show: {
    fixed: [...NO_PROGRAMS, "--no-show-signature", "--no-mailmap"],
    byDefault: [],
    flags: new Set([...DIFF_FLAGS, ...COMMIT_FLAGS, "--first-parent"]),
    valued: new Set([...DIFF_VALUED, ...COMMIT_VALUED]),
  },
  blame: {
    fixed: ["--no-textconv"],
    byDefault: [],
    flags: new Set(
      words(`-w -M -C -e --show-email -s -l -t -p --porcelain --line-porcelain -f --show-name -n --show-number -b --root
        --first-parent --reverse -c`),
    ),
    valued: new Set(words("-L --since --date --abbrev -M -C")),
  },
};

const DEFAULT_LOG_COUNT = "--max-count=50";

export class GitArgumentError extends Error {}

export interface GitFolders {
  /** The folder where git runs; it reads nothing outside. */
  readonly root: string;
  /** The top of the repository's work tree: the root, or a folder above or below it. */
  readonly top: string;
}

/** The arguments for git after `git`, or a GitArgumentError that says what was wrong. */
export function gitArguments(action: GitAction, args: readonly string[], folders: GitFolders): string[] {
  const rules = RULES[action];
  const options: string[] = [];
  const revisions: string[] = [];
  const paths: string[] = [];
  const given = args.length === 0 ? rules.byDefault : args;
  for (let index = 0; index < given.length; index++) {
    const word = given[index] as string;
    if (word.includes("\0")) throw new GitArgumentError("An argument holds a NUL character.");
    if (word === "--") {
      paths.push(...given.slice(index + 1));
      break;
    }
    if (word.startsWith("-") && word !== "-") {
      const option = checkOption(action, word, given[index + 1]);
      if (option.tookNext) index += 1;
      checkValue(option.text, folders);
      options.push(option.text);
    } else if (action === "status" || looksLikePath(word, folders.root)) {
      paths.push(word);
    } else {
      checkRevision(word, folders);
      revisions.push(word);
    }
  }
  for (const path of paths) checkPath(path, folders.root);
  if (action === "blame") return [action, ...rules.fixed, ...options, ...blameTarget(revisions, paths)];
  if (action === "log" && !options.some(isCount)) options.push(DEFAULT_LOG_COUNT);
  // In a repository that reaches beyond the workspace only the workspace's part is shown.
  if (paths.length === 0 && folders.top !== folders.root && !revisions.some((word) => word.includes(":")))
    paths.push(".");
  return [action, ...rules.fixed, ...options, ...revisions, "--", ...paths];
}

function blameTarget(revisions: readonly string[], paths: readonly string[]): readonly string[] {
  const [path] = paths;
  if (path === undefined || paths.length > 1) {
    throw new GitArgumentError('blame needs one file: ["src/a.ts"], or ["HEAD~2", "--", "src/a.ts"].');
  }
  return [...revisions, "--", path];
}

function checkOption(action: GitAction, word: string, next: string | undefined): { text: string; tookNext: boolean } {
  const { flags, valued } = RULES[action];
  if (flags.has(word) || (action === "log" && /^-\d+$/.test(word))) return { text: word, tookNext: false };
  if (valued.has(word)) {
    if (next === undefined) throw new GitArgumentError(`The option ${word} needs a value.`);
    return { text: word.startsWith("--") ? `${word}=${next}` : word + next, tookNext: true };
  }
  const name = word.startsWith("--") ? word.split("=", 1)[0] : word.slice(0, 2);
  if (name !== undefined && name !== word && valued.has(name)) return { text: word, tookNext: false };
  const known = [...new Set([...flags, ...valued])].join(" ");
  throw new GitArgumentError(
    `The option ${word} is not allowed for git ${action}: this tool only reads. Allowed: ${known}`,
  );
}

function isCount(option: string): boolean {
  return /^(-\d+|-n|--max-count)/.test(option);
}

function checkValue(option: string, { root }: GitFolders): void {
  if (/^--(format|pretty)=/.test(option) && /%[-+ ]?G/.test(option)) {
    throw new GitArgumentError("Signatures (%G…) are not checked by this tool: that runs gpg.");
  }
  // `-L 1,5:file` and `-L :name:file` of log name a file.
  const range = /^-L(.*)$/s.exec(option)?.[1];
  const file = range === undefined ? undefined : /^(?::.*?|[^:]*):(.+)$/s.exec(range)?.[1];
  if (file !== undefined) checkPath(file, root);
}

/** Paths may come before `--` if they exist or are patterns, as in git itself. */
function looksLikePath(word: string, root: string): boolean {
  if (/^:[!^]/.test(word)) return true;
  if (word.includes(":")) return false;
  if (word.includes("*") || word === ".." || word.startsWith("../") || word.startsWith("/")) return true;
  return isThere(resolve(root, word));
}

function checkPath(path: string, root: string): void {
  const plain = path.replace(/^:[!^]+/, "");
  if (plain.startsWith(":"))
    throw new GitArgumentError(`The path ${path} is not plain: pathspec magic is not allowed.`);
  if (!isInside(resolve(root, plain), [root])) throw new GitArgumentError(`The path ${path} is outside the workspace.`);
}

/** `HEAD~2`, `main..topic`, and `HEAD:path`, whose path git reads from the top of the repository unless it begins with a dot. */
function checkRevision(word: string, { root, top }: GitFolders): void {
  const path = /^(?::[0-3]:|[^:]*:)(.*)$/s.exec(word)?.[1];
  if (path === undefined || word.includes("^{/") || word.startsWith("@{")) return;
  if (word.startsWith(":/") || word.startsWith(":(")) {
    throw new GitArgumentError(`${word} is not allowed here: name a commit, or a path inside the workspace.`);
  }
  const base = /^\.\.?(\/|$)/.test(path) ? root : top;
  if (!isInside(resolve(base, path), [root])) throw new GitArgumentError(`${word} is outside the workspace.`);
}
