import { expect, it } from "vitest";
import { HARMLESS_VARIABLES, isMeaningfulVariable } from "./variables.js";

/** Lists what shells, loaders and common programs read: a command that sets one of them changes what runs. */
const MEANINGFUL = `
  _ PATH HOME PWD OLDPWD IFS CDPATH ENV SHELL EDITOR VISUAL BROWSER RANDOM SRANDOM SECONDS LINENO OPTARG OPTIND OPTERR UID EUID PPID
  TMOUT TEMP FUNCNEST GLOBIGNORE EXECIGNORE FIGNORE INPUTRC POSIXLY_CORRECT REPLY DIRSTACK GROUPS COPROC MAPFILE COMPREPLY
  PS0 PS1 PS2 PS3 PS4 PROMPT_COMMAND HISTFILE TERM TERMINFO MAIL MAILPATH TMP TMPDIR READLINE_LINE COMP_WORDS
  LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES GIT_DIR GIT_SSH_COMMAND SSH_AUTH_SOCK LC_ALL NODE_OPTIONS NODE_PATH NPM_TOKEN
  npm_config_registry PYTHONSTARTUP PYTHONPATH PERL5LIB RUBYLIB JAVA_HOME JDK_HOME GOPATH GOBIN RUSTC CARGO_HOME DOCKER_HOST
  KUBECONFIG AWS_PROFILE GPG_TTY XDG_DATA_HOME OXBOW_HOME
  BASH_ENV MY_BASHRC PAGER MANPAGER APP_PRELOAD FOO_LIBRARY MY_CONFIG http_proxy HTTPS_PROXY MAVEN_OPTIONS MAVEN_OPTS CFLAGS
  LDFLAGS MY_HOOK RUN_COMMAND SUDO_ASKPASS LUA_STARTUP
`
  .trim()
  .split(/\s+/);

it.each(MEANINGFUL)("%s has a meaning, in any letters", (name) => {
  expect([isMeaningfulVariable(name), isMeaningfulVariable(name.toLowerCase())]).toEqual([true, true]);
});

it.each(["A", "X1", "name", "count", "file", "result", "FOO_BAR", "VERSION", "MY_PATHS", "i", "THE_END"])(
  "%s is a word of its author",
  (name) => expect(isMeaningfulVariable(name)).toBe(false),
);

it("those that change only the look of output are whole names", () => {
  const harmless = "LANG LANGUAGE LC_ALL LC_TIME TZ NO_COLOR FORCE_COLOR CLICOLOR COLUMNS LINES".split(" ");
  expect(harmless.filter((name) => !HARMLESS_VARIABLES.test(name))).toEqual([]);
  const others = ["LANGX", "XTZ", "LC_", "LC_a", "lang", "COLUMNS2", "LD_PRELOAD", "PAGER", "TERM"];
  expect(others.filter((name) => HARMLESS_VARIABLES.test(name))).toEqual([]);
});
