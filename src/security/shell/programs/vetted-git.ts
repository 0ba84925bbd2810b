/**
 * What of git only reads in a repository that names no programs (`quiet-repository.ts`): everything of `git.ts`, and the commands
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
      branch: { ...git?.commands?.branch, flags: also(git?.commands?.branch?.flags, "--show-current"), required: "" },
    },
  },
};
