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

export function gitProblem(command: SimpleCommand, ask: AskGit): string | undefined {
  const inner = unwrapQuietly(command.words);
  const [program, action, ...args] = (typeof inner === "string" ? [] : inner).map(fixedValue);
  if (program !== "git" || action === undefined) return undefined;
  const words = args.filter((word) => word !== undefined);
  if (words.length < args.length) return undefined;
  if (action === "cat-file" || action === "show") {
    const blob = words.find(
      (word) => /^[0-9a-f]{4,64}$/i.test(word) && ask(["cat-file", "-t", word])?.trim() === "blob",
    );
    if (blob !== undefined) return `${blob} is a file without a name, which may hold secrets.`;
  }
  if (action === "grep") return searchProblem(words, ask);
  const query = queryFor(action, words);
  return query === undefined ? undefined : listProblem(ask(query));
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
  const kept = [...before.filter((word) => !LOOKS.test(word)), ...(end < 0 ? [] : words.slice(end))];
  if (action === "diff") return ["diff", "--name-only", "-z", ...kept];
  // `HEAD:a/b` is a file, and was judged by its name.
  const isFile = before.some((word) => !word.startsWith("-") && word.includes(":"));
  if (action === "show" && !isFile) return ["show", "--name-only", "-z", "--format=", ...kept];
  const showsPatches = before.some((word) => SHOWS_PATCHES.test(word));
  return action === "log" && showsPatches ? ["log", "--name-only", "-z", "--format=", ...kept] : undefined;
}
