/**
 * Decides whether a git command that only reads would show files that hold secrets without naming them. It decides by the words of the
 * command and by the names in git's index, and starts no program: git with the words of a model can write any file.
 *
 * 1. A search, an archive and whatever else shows whole files ask where the index holds such a file.
 * 2. A patch names its file in a header, and `bash` leaves out the patches of such files. So a patch asks only if its output goes
 *    to another program or to a file, where the header can get lost.
 * 3. Older commits are not read: Oxbow does not know which files only they hold.
 */
import { posix } from "node:path";
import type { SimpleCommand } from "../shell/syntax.js";
import { fixedValue } from "../shell/word-values.js";
import { unwrapQuietly } from "../shell/wrappers.js";
import type { TrackedSecret, TrackedSecrets } from "./tracked-files.js";

const SHOWS_FILES = new Set("archive format-patch grep range-diff difftool merge-tree fast-export".split(" "));
const SHOWS_PATCHES = new Set("show diff log whatchanged reflog stash diff-tree diff-index diff-files".split(" "));
const PATCHES_ON_REQUEST = new Set("log whatchanged reflog stash diff-tree diff-index diff-files".split(" "));
const REQUEST =
  /^(-[a-zA-Z]*[pucmUW]\d*|-L.*|--(patch|unified|cc|word-diff|color-words|patch-with-stat|function-context)(=.*)?)$/;
const NAMES_ONLY = /^(-s|--(stat|numstat|shortstat|name-only|name-status|quiet|no-patch))$/;
const GLOBAL_WITH_VALUE = new Set("-C -c --git-dir --work-tree --namespace --exec-path --config-env".split(" "));

export interface GitCall {
  readonly command: SimpleCommand;
  /** Another program or a file gets the output. */
  readonly isHandedOn: boolean;
}

export function gitProblem({ command, isHandedOn }: GitCall, secrets: TrackedSecrets): string | undefined {
  const inner = unwrapQuietly(command.words);
  const [program, ...all] = (typeof inner === "string" ? [] : inner).map(fixedValue);
  if (program === undefined || program.slice(program.lastIndexOf("/") + 1) !== "git") return undefined;
  const { action = "", args, isElsewhere } = actionOf(all);
  const words = args.filter((word) => word !== undefined);
  if (action === "cat-file" || action === "show") {
    const problem = blobProblem(action, words, secrets);
    if (problem !== undefined) return problem;
  }
  const isHidden = words.length < args.length || isElsewhere;
  // An argument that is only known when the command runs may name a whole file: `HEAD:.e$(echo nv)`.
  const mayNameFile = (action === "show" || action === "cat-file") && words.length < args.length;
  const shows =
    mayNameFile || SHOWS_FILES.has(action) || (SHOWS_PATCHES.has(action) && isHandedOn && showsPatches(action, words));
  if (!shows) return undefined;
  const [found] = secrets().filter((secret) => isHidden || isAmong(secret, words));
  return found && `It may show ${found.path}: ${found.reason}.`;
}

function actionOf(words: readonly (string | undefined)[]) {
  let at = 0;
  let isElsewhere = false;
  for (let word = words[at]; word?.startsWith("-"); word = words[at]) {
    if (/^(-C|--git-dir|--work-tree|--namespace|--bare)/.test(word)) isElsewhere = true;
    at += GLOBAL_WITH_VALUE.has(word) ? 2 : 1;
  }
  return { action: words[at], args: words.slice(at + 1), isElsewhere };
}

function showsPatches(action: string, words: readonly string[]): boolean {
  if (PATCHES_ON_REQUEST.has(action)) return words.some((word) => REQUEST.test(word));
  // `HEAD:a/b` is a file, and was judged by its name.
  const isFile = action === "show" && words.some((word) => !word.startsWith("-") && word.includes(":"));
  return !isFile && !words.some((word) => NAMES_ONLY.test(word));
}

/** A file by its hash alone has no name to judge it by. `git show` takes hashes of commits as well, so only known ones count there. */
function blobProblem(action: string, words: readonly string[], secrets: TrackedSecrets): string | undefined {
  if (action === "cat-file" && words.some((word) => /^--(batch|textconv|filters)/.test(word)))
    return "Git reads the names of what it shows from its input.";
  const hashes = words.filter((word) => /^[0-9a-f]{4,64}$/i.test(word)).map((word) => word.toLowerCase());
  if (action === "cat-file" && words.includes("-p") && hashes.length > 0)
    return `${hashes[0]} may be a file without a name, which may hold secrets.`;
  const found =
    hashes.length === 0 ? undefined : secrets().find(({ hash }) => hashes.some((each) => hash.startsWith(each)));
  return found && `It would show ${found.path}: ${found.reason}.`;
}

/** Tells whether the paths behind `--` hold the file; without any, all do. */
function isAmong({ path }: TrackedSecret, words: readonly string[]): boolean {
  const end = words.indexOf("--");
  const paths = end < 0 ? [] : words.slice(end + 1);
  return (
    paths.length === 0 ||
    paths.some((each) => {
      const plain = posix.normalize(each).replace(/\/$/, "");
      return /^:|[*?[\]\\]/.test(each) || plain === "." || plain.startsWith("..") || `${path}/`.startsWith(`${plain}/`);
    })
  );
}
