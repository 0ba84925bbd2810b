/** Variables and what it means to set them. */

/** They change only how output looks, so they may precede a read-only command. */
export const HARMLESS_VARIABLES = /^(LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES)$/;

const NAMES =
  "_ PATH HOME PWD OLDPWD IFS CDPATH ENV SHELL EDITOR VISUAL BROWSER RANDOM SRANDOM SECONDS LINENO OPTARG OPTIND OPTERR UID EUID " +
  "PPID TMOUT TEMP FUNCNEST GLOBIGNORE EXECIGNORE FIGNORE INPUTRC POSIXLY_CORRECT REPLY DIRSTACK GROUPS COPROC MAPFILE COMPREPLY";
const BEGINNINGS =
  "PS0 PS1 PS2 PS3 PS4 PROMPT HIST TERM MAIL TMP READLINE COMP_ LD_ DYLD_ GIT_ SSH_ LC_ NODE NPM PYTHON PERL RUBY JAVA JDK_ GO " +
  "RUST CARGO DOCKER KUBE AWS_ GPG XDG_ OXBOW";
const FRAGMENTS = "BASH PAGER PRELOAD LIBRARY CONFIG PROXY OPTIONS OPTS FLAGS HOOK COMMAND ASKPASS STARTUP";

const names = new Set(NAMES.split(" "));
const beginnings = BEGINNINGS.split(" ");
const fragments = FRAGMENTS.split(" ");

/** Tells whether a shell or another program gives a variable of this name a meaning. */
export function isMeaningfulVariable(name: string): boolean {
  const upper = name.toUpperCase();
  return (
    names.has(upper) ||
    beginnings.some((beginning) => upper.startsWith(beginning)) ||
    fragments.some((fragment) => upper.includes(fragment))
  );
}
