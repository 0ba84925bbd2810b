/** Describes what a git command needs beyond reading: its folder, or the network. For commands that the shell's judge did not find to only read. */
import type { Words } from "../facts.js";

export type GitNeed = "nothing" | "git" | "network" | "cleans";

/** Tells what a git command does to changes that no commit holds; undefined if it keeps them. `rest` are the words from the subcommand on. */
export function gitLoss([subcommand, ...rest]: Words): string | undefined {
  const has = (...options: readonly string[]) => rest.some((word) => word !== undefined && options.includes(word));
  const letters = (letter: string) => rest.some((word) => new RegExp(`^-[a-zA-Z]*${letter}`).test(word ?? ""));
  const [first] = rest;
  switch (subcommand) {
    case "clean":
      return gitNeed(["clean", ...rest]) === "cleans" ? "deletes files that git does not track" : undefined;
    case "reset":
      return has("--hard", "--merge", "--keep") ? "discards changes that are not committed" : undefined;
    case "restore":
      return has("--staged", "-S") && !has("--worktree", "-W") ? undefined : "discards changes that are not committed";
    case "checkout":
    case "switch": {
      const isForced = has("--force", "--discard-changes", "--ours", "--theirs") || letters("f");
      const namesFiles = subcommand === "checkout" && (has("--", ".", "./", ":/") || has("--pathspec-from-file"));
      return isForced || namesFiles ? "discards changes that are not committed" : undefined;
    }
    case "stash":
      if (first === "drop" || first === "clear") return "deletes stashed changes";
      if (first === undefined || first === "push" || first === "save" || first.startsWith("-"))
        return "takes changes that are not committed out of the files";
      return undefined;
    case "rm":
      return has("--cached") ? undefined : "deletes files";
    case "branch":
      return letters("D") || (letters("d") && has("--force"))
        ? "deletes a branch, whether its commits are merged or not"
        : undefined;
    case "worktree":
      return first === "remove" && (has("--force") || letters("f")) ? "deletes a worktree with its changes" : undefined;
    default:
      return undefined;
  }
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const NETWORK = words(
  "fetch pull push clone ls-remote submodule lfs svn p4 send-email request-pull http-fetch http-push",
);

/** They read the repository, and write at most files of the work tree. */
const READS = words(
  "status diff log show blame annotate grep ls-files ls-tree rev-parse rev-list describe shortlog cat-file merge-base name-rev " +
    "for-each-ref show-ref show-branch check-ignore check-attr check-mailmap check-ref-format var version help count-objects whatchanged " +
    "cherry diff-tree diff-index diff-files range-diff verify-commit verify-tag verify-pack format-patch archive stripspace column " +
    "mailinfo patch-id interpret-trailers fmt-merge-msg merge-tree get-tar-commit-id difftool --version --help",
);

/** By the word after the subcommand; `""` means none. */
const READS_WITH: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    stash: words("list show"),
    remote: new Set(["", "-v", "--verbose", "get-url"]),
    worktree: words("list"),
    branch: new Set(["", "-a", "-r", "-v", "-vv", "-l", "--list", "--all", "--show-current", "--contains", "--merged"]),
    tag: new Set(["", "-l", "--list", "--contains", "--points-at"]),
    config: words("--get --get-all --get-regexp --list -l get list"),
    reflog: new Set(["", "show"]),
    bisect: words("log view"),
    notes: new Set(["", "list", "show"]),
    bundle: words("verify list-heads"),
  }),
);

/** `rest` are the words from the subcommand on. */
export function gitNeed(rest: Words): GitNeed {
  const [subcommand, next = ""] = rest;
  // With its folder read-only, it can do no harm.
  if (subcommand === undefined) return "nothing";
  if (subcommand === "submodule" && (next === "status" || next === "summary")) return "nothing";
  if (subcommand === "clean")
    return rest.some((word) => word === "--dry-run" || /^-[a-z]*n/.test(word ?? "")) ? "nothing" : "cleans";
  if (NETWORK.has(subcommand) || (subcommand === "remote" && (next === "update" || next === "show"))) return "network";
  if (READS.has(subcommand) || READS_WITH.get(subcommand)?.has(next) === true) return "nothing";
  if (subcommand === "apply")
    return rest.some((word) => word === "--index" || word === "--cached" || word === "-3") ? "git" : "nothing";
  if (subcommand === "hash-object") return rest.includes("-w") ? "git" : "nothing";
  return "git";
}
