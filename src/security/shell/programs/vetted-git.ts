/**
 * The git commands that only read in a repository that names no programs (`quiet-repository.ts`): everything of `git.ts`, and the commands
 * that look at the work tree or show patches.
 *
 * Not in the lists: --output and whatever else writes, --ext-diff and --textconv (they are on where they matter), --no-index (it
 * reads files that are not of the repository), -O and other options that name files, and --help.
 */
import { GIT_PROGRAMS } from "./git.js";
import type { ProgramRules, ProgramTable } from "./rules.js";

const DIFF_FLAGS =
  "-p -u --patch -s --no-patch --stat --numstat --shortstat --dirstat --summary --name-only --name-status --raw --check " +
  "--full-index --binary --patch-with-stat -R -a --text -b -w --ignore-space-change --ignore-all-space --ignore-blank-lines " +
  "--ignore-cr-at-eol --ignore-space-at-eol --minimal --patience --histogram --no-color --color --no-renames --find-renames " +
  "--word-diff --color-words --no-prefix --no-ext-diff --no-textconv -W --function-context --pickaxe-all --pickaxe-regex " +
  "--relative --no-relative --exit-code --quiet -q -z";
const DIFF_VALUED = "-U -S -G --unified --inter-hunk-context --diff-filter --diff-algorithm";
const DIFF_OPTIONAL = "--stat --color --word-diff --find-renames --dirstat --abbrev --relative";

const { git } = GIT_PROGRAMS;
const { log } = git?.commands ?? {};

const also = (one: string | undefined, other: string) => `${one ?? ""} ${other}`;

const patches: ProgramRules = {
  flags: `${DIFF_FLAGS} -m -c --cc`,
  valued: DIFF_VALUED,
  optional: DIFF_OPTIONAL,
  dashes: true,
  check: "git-objects",
};

export const VETTED_GIT_PROGRAMS: ProgramTable = {
  git: {
    ...git,
    commands: {
      ...git?.commands,
      status: {
        flags:
          "-s --short -b --branch --long --porcelain -u -v --verbose --ignored --ahead-behind --no-ahead-behind --no-renames -z",
        optional: "--porcelain --untracked-files --ignored",
        dashes: true,
      },
      diff: { ...patches, flags: also(patches.flags, "--cached --staged --merge-base --ours --theirs --base") },
      show: {
        ...patches,
        flags: also(patches.flags, "--oneline --no-notes --decorate --no-decorate --abbrev-commit --no-show-signature"),
        optional: also(patches.optional, "--format --pretty --decorate"),
      },
      blame: {
        flags:
          "-l -t -f -n -p -s -e -w --porcelain --line-porcelain --show-name --show-number --show-email --root --date",
        valued: "-L",
        optional: "--date --abbrev",
        dashes: true,
        check: "git-objects",
      },
      log: {
        ...log,
        flags: also(log?.flags, patches.flags ?? ""),
        valued: also(log?.valued, DIFF_VALUED),
        optional: also(log?.optional, DIFF_OPTIONAL),
        check: "git-objects",
      },
      branch: {
        flags: "-a -r -v --all --remotes --no-color --no-column --color --show-current",
        optional: "--color",
        operands: "none",
      },
      tag: { flags: "-l --list", operands: "text", maximum: 1, check: "git-tag" },
      grep: {
        flags:
          "-a -c -E -F -G -h -H -i -I -l -L -n -o -P -v -w -W -p -z --text --count --cached --column --extended-regexp " +
          "--fixed-strings --basic-regexp --perl-regexp --ignore-case --files-with-matches --name-only --files-without-match " +
          "--line-number --only-matching --invert-match --word-regexp --heading --break --no-color --color --full-name " +
          "--untracked --and --or --not --all-match --no-textconv",
        valued: "-e -A -B -C -m --after-context --before-context --context --max-count --max-depth",
        optional: "--color",
        count: true,
        operands: "pattern, files",
        patterns: "-e",
        minimum: 1,
        dashes: true,
        check: "git-objects",
      },
      "ls-files": {
        ...git?.commands?.["ls-files"],
        flags: also(
          git?.commands?.["ls-files"]?.flags,
          "-d -m -o --deleted --modified --others --directory --ignored -i",
        ),
        valued: "-x --exclude",
      },
      "cat-file": { flags: "-t -s -p -e", operands: "text", minimum: 1, maximum: 1, check: "git-objects" },
      "for-each-ref": {
        valued: "--count --format --sort",
        flags: "--no-merged --merged",
        operands: "text",
        check: "git-ref-format",
      },
    },
  },
};
