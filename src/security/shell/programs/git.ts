/**
 * The git commands that never ask in a shell.
 *
 * 1. Only what does not run programs that a repository's configuration names. Looking at the work tree runs core.fsmonitor;
 *    showing a patch or blame runs external diffs and text conversion; so status, diff, show, blame and `log -p` ask
 *    here. `vetted-git.ts` allows them in a repository whose configuration was checked.
 * 2. `log` has signatures checked when log.showSignature or format.pretty say so: `QUIET_GIT_ENVIRONMENT` overrides both.
 * 3. Lists of branches and tags are sorted as the configuration says, and newer versions sort by signatures, which they have
 *    checked by a program of the configuration: in a repository that names programs, they ask.
 * 4. Before the sub-command only options that switch the pager off, or locks: others move the repository, its configuration or its
 *    programs.
 */
import type { ProgramTable } from "./rules.js";

export const GIT_PROGRAMS: ProgramTable = {
  git: {
    flags: "--help",
    required: "--help",
    operands: "none",
    leading: "--no-pager -P --no-optional-locks",
    commands: {
      log: {
        flags:
          "--oneline --graph --all --branches --tags --remotes --decorate --no-decorate --merges --no-merges --first-parent " +
          "--reverse --follow --stat --shortstat --numstat --name-only --name-status --abbrev-commit --no-abbrev-commit " +
          "--topo-order --date-order --no-color --color --summary --dirstat --no-patch -s -i --regexp-ignore-case -E -F " +
          "--no-show-signature --no-ext-diff --no-textconv --no-mailmap --relative-date",
        valued: "-n --max-count --skip --since --until --after --before --author --committer --grep --date",
        optional: "--decorate --format --pretty --color --stat --branches --tags --remotes --abbrev",
        count: true,
        dashes: true,
        check: "git-format",
      },
      branch: {
        flags: "-a -r -v --all --remotes --no-color --no-column --color",
        required: "-a -r --all --remotes",
        optional: "--color",
        operands: "none",
      },
      tag: { flags: "-l --list", required: "-l --list", operands: "text", maximum: 1 },
      remote: {
        flags: "-v --verbose",
        operands: "none",
        commands: {
          "get-url": { flags: "--all --push", operands: "text", minimum: 1, maximum: 1, check: "git-remote-name" },
        },
      },
      "rev-parse": {
        flags:
          "--show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree " +
          "--is-inside-git-dir --is-bare-repository --is-shallow-repository --abbrev-ref --symbolic-full-name --short --verify -q",
        optional: "--short --abbrev-ref",
        operands: "text",
      },
      "rev-list": {
        flags: "--count --all --first-parent --merges --no-merges --reverse",
        valued: "-n --max-count --since --until",
        count: true,
        minimum: 1,
      },
      "merge-base": { flags: "--all --is-ancestor --fork-point", operands: "text", minimum: 1 },
      "show-ref": { flags: "--heads --tags --head --abbrev -s -d", operands: "text" },
      "ls-files": {
        flags:
          "-c -s -t -u -z --cached --stage --unmerged --full-name --error-unmatch --deduplicate --abbrev " +
          "--exclude-standard",
        dashes: true,
      },
      describe: {
        flags: "--tags --all --always --long --exact-match --first-parent --contains",
        valued: "--match --exclude --candidates",
        optional: "--abbrev",
        operands: "text",
      },
      shortlog: {
        flags: "-c -e -n -s --committer --email --numbered --summary --merges --no-merges --all",
        valued: "--since --until --author",
        operands: "text",
        minimum: 1,
      },
      config: {
        flags: "--get --get-all --local --global",
        required: "--get --get-all",
        operands: "checked",
        minimum: 1,
        maximum: 1,
        check: "git-setting",
      },
      stash: {
        ...{ minimum: 1, operands: "none" },
        commands: { list: { flags: "--oneline", operands: "none" } },
      },
      worktree: {
        ...{ minimum: 1, operands: "none" },
        commands: { list: { flags: "-v -z --verbose --porcelain", operands: "none" } },
      },
      "ls-tree": { flags: "-r -d -t -l --name-only --name-status --full-tree", minimum: 1 },
    },
  },
};

const { branch: _, tag: __, ...quiet } = GIT_PROGRAMS.git?.commands ?? {};

/** For a repository whose configuration was checked and is not known to be harmless. */
export const WARY_GIT_PROGRAMS: ProgramTable = { git: { ...GIT_PROGRAMS.git, commands: quiet } };
