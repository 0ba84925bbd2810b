/**
 * Whether a git command that only reads would show files that hold secrets: its patches and searches do not name files before they
 * run. Git itself is asked which files they are about, with the same words and names only.
 */
import { sensitiveReason } from "../../base/sensitive-path.js";
import type { SimpleCommand } from "../shell/syntax.js";
import { fixedValue } from "../shell/word-values.js";
import { unwrapQuietly } from "../shell/wrappers.js";

/** Runs git with these arguments, without programs of the repository; undefined when it fails or takes long. */
export type AskGit = (args: readonly string[]) => string | undefined;

/** Options that say how something is shown, and not what. */
const LOOKS =
  /^(--(stat|numstat|shortstat|dirstat|summary|name-only|name-status|raw|check|patch-with-stat|patch|no-patch|oneline|graph|format|pretty|word-diff|color|no-color|color-words|quiet|exit-code|cc|decorate|no-decorate|full-index|binary)(=.*)?|-[puszqcmWR]+)$/;
const SHOWS_PATCHES =
  /^(-[a-zA-Z]*[pucmUW]\d*|--(patch|unified|cc|word-diff|color-words|patch-with-stat|function-context)(=.*)?)$/;

/** Actions that show what is in files, or may with some options. The others that run without asking show names and messages. */
const SHOWS = new Set(
  (
    "archive format-patch stash show cat-file diff log grep diff-tree diff-index diff-files whatchanged reflog range-diff " +
    "difftool merge-tree"
  ).split(" "),
);
const GLOBAL_WITH_VALUE = new Set("-C -c --git-dir --work-tree --namespace --exec-path --config-env".split(" "));

export function gitProblem(command: SimpleCommand, ask: AskGit): string | undefined {
  const inner = unwrapQuietly(command.words);
  const [program, ...all] = (typeof inner === "string" ? [] : inner).map(fixedValue);
  if (program === undefined || program.slice(program.lastIndexOf("/") + 1) !== "git") return undefined;
  const { action, args, isPlain } = actionOf(all);
  if (action === undefined || !SHOWS.has(action)) return undefined;
  const words = args.filter((word) => word !== undefined);
  // Words that are known only later may name any file.
  const isKnown = words.length === args.length && !words.some((word) => /^--batch/.test(word));
  if (!mayShow(action, words)) return undefined;
  if (!isKnown || !isPlain) return trackedProblem(ask);
  if (action === "cat-file" || action === "show") {
    const blob = words.find(
      (word) => /^[0-9a-f]{4,64}$/i.test(word) && ask(["cat-file", "-t", word])?.trim() === "blob",
    );
    if (blob !== undefined) return `${blob} is a file without a name, which may hold secrets.`;
  }
  if (action === "grep") return searchProblem(words, ask);
  if (action === "range-diff" || action === "difftool" || action === "merge-tree") return trackedProblem(ask);
  const query = queryFor(action, words);
  return query === undefined ? undefined : listProblem(ask(query));
}

/** `isPlain`: no option before the action makes git look elsewhere. */
function actionOf(words: readonly (string | undefined)[]) {
  let at = 0;
  let isPlain = true;
  for (let word = words[at]; word?.startsWith("-"); word = words[at]) {
    if (/^(-C|--git-dir|--work-tree|--namespace|--bare)/.test(word)) isPlain = false;
    at += GLOBAL_WITH_VALUE.has(word) ? 2 : 1;
  }
  return { action: words[at], args: words.slice(at + 1), isPlain };
}

/** Whether an action shows patches or files at all. */
function mayShow(action: string, words: readonly string[]): boolean {
  if (PATCHES_ON_REQUEST.has(action)) return words.some(showsPatches);
  return (
    action !== "diff" || !words.some((word) => /^--(stat|numstat|shortstat|name-only|name-status|quiet)$/.test(word))
  );
}

const PATCHES_ON_REQUEST = new Set("log whatchanged reflog stash diff-tree diff-index diff-files".split(" "));

function showsPatches(word: string): boolean {
  return SHOWS_PATCHES.test(word) || /^-L/.test(word);
}

/** For commands whose files git cannot list beforehand: a secret file in the index or in the last commit is enough. */
function trackedProblem(ask: AskGit): string | undefined {
  const index = listProblem(ask(["ls-files", "-z", "--cached"]));
  if (index !== undefined) return index.replace("It would show", "It may show");
  const last = ask(["ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD"]);
  return last === undefined ? undefined : listProblem(last)?.replace("It would show", "It may show");
}

function listProblem(listed: string | undefined): string | undefined {
  if (listed === undefined) return "Git takes too long to list the files it would show.";
  for (const path of listed.split("\0")) {
    const name = path.trim();
    const reason = sensitiveReason(name);
    if (reason !== undefined) return `It would show ${name}: ${reason}.`;
  }
  return undefined;
}

/** The files of the work tree, and those of every word that is a revision. */
function searchProblem(words: readonly string[], ask: AskGit): string | undefined {
  const end = words.indexOf("--");
  const before = end < 0 ? words : words.slice(0, end);
  const paths = end < 0 ? [] : words.slice(end);
  const others = before.includes("--untracked") ? ["--others", "--exclude-standard"] : [];
  const problem = listProblem(ask(["ls-files", "-z", "--cached", ...others, ...paths]));
  if (problem !== undefined) return problem;
  for (const word of before.filter((each) => !each.startsWith("-"))) {
    const listed = ask(["ls-tree", "-r", "-z", "--name-only", "--full-tree", word]);
    const found = listed === undefined ? undefined : listProblem(listed);
    if (found !== undefined) return found;
  }
  return undefined;
}

function queryFor(action: string, words: readonly string[]): readonly string[] | undefined {
  const end = words.indexOf("--");
  const before = end < 0 ? words : words.slice(0, end);
  const paths = end < 0 ? [] : words.slice(end);
  const kept = [...before.filter((word) => !LOOKS.test(word)), ...paths];
  if (action === "diff") return ["diff", "--name-only", "-z", ...kept];
  if (action === "archive") return archiveQuery(before, paths);
  if (action === "format-patch") return formatPatchQuery(before, paths);
  // `HEAD:a/b` is a file, and was judged by its name.
  const isFile = before.some((word) => !word.startsWith("-") && word.includes(":"));
  if (action === "show") return isFile ? undefined : ["show", "--name-only", "-z", "--format=", ...kept];
  const revisions = kept.filter((word) => !/^-L/.test(word));
  switch (action) {
    case "stash":
      return before[0] === "show" ? ["stash", "show", "--name-only", "-z", ...kept.slice(1)] : undefined;
    case "reflog":
      return ["log", "-g", "--name-only", "-z", "--format=", ...revisions.filter((word) => word !== "show")];
    case "log":
    case "whatchanged":
      return ["log", "--name-only", "-z", "--format=", ...revisions];
    case "diff-tree":
      return ["diff-tree", "-r", "--root", "--name-only", "-z", ...kept];
    case "diff-index":
    case "diff-files":
      return [action, "--name-only", "-z", ...kept];
    default:
      return undefined;
  }
}

/** All files of the tree, or of the given paths in it. */
function archiveQuery(before: readonly string[], paths: readonly string[]): readonly string[] {
  const plain = before.filter(
    (word, index) =>
      !word.startsWith("-") && !/^(-o|--output|--remote|--exec|--prefix|--format)$/.test(before[index - 1] ?? ""),
  );
  const [tree = "HEAD", ...rest] = plain;
  return ["ls-tree", "-r", "-z", "--name-only", tree, ...rest, ...paths];
}

/** One revision means all that follow it. */
function formatPatchQuery(before: readonly string[], paths: readonly string[]): readonly string[] {
  const counts = before.filter((word) => /^-\d+$/.test(word));
  const plain = before.filter(
    (word, index) => !word.startsWith("-") && !/^(-o|-n|-v|--output-directory)$/.test(before[index - 1] ?? ""),
  );
  const [one = "HEAD"] = plain;
  const isSince = plain.length === 1 && counts.length === 0 && !one.includes("..") && !before.includes("--root");
  const revisions = isSince ? [`${one}..HEAD`] : plain;
  return ["log", "--name-only", "-z", "--format=", ...counts, ...revisions, ...paths];
}
