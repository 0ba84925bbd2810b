/**
 * The git settings of the system and of the user, read from their files without git: a program must not start while a call is
 * decided. The files are read again when one of them changed.
 */
import { isAbsolute, join } from "node:path";
import { realpathOrSelf } from "../real-path.js";
import { type LocatedSetting, type ReadSettings, readSettings, stampOf } from "./settings-files.js";

export interface PersonalGit {
  /** Absolute; undefined where there is no git. The file of the system lies beside it. */
  readonly program: string | undefined;
  readonly home: string;
  /** Variables that tell git where its configuration is. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** Apple's git reads one of its own, too. */
const SYSTEM_FILES = [
  "/etc/gitconfig",
  "/usr/local/etc/gitconfig",
  "/opt/homebrew/etc/gitconfig",
  "/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig",
  "/Applications/Xcode.app/Contents/Developer/usr/share/git-core/gitconfig",
];
const SWITCHED_ON = /^(1|true|yes|on)$/i;
/** A value in single quotes, as a shell reads it. */
const QUOTED = "'((?:[^']|'\\\\''|'\\\\!')*)'";

export class PersonalSettings {
  readonly #git: PersonalGit;
  #known: ReadSettings | undefined;

  constructor(git: PersonalGit) {
    this.#git = git;
  }

  get home(): string {
    return this.#git.home;
  }

  read(): ReadSettings {
    if (this.#known !== undefined && stampOf(this.#known.files) === this.#known.stamp) return this.#known;
    const read = readSettings([...new Set(this.#files())], this.#git.home);
    this.#known = { ...read, settings: [...read.settings, ...settingsOfVariables(this.#git.variables)] };
    return this.#known;
  }

  /** Every file that some git may read. The later ones win. */
  #files(): readonly string[] {
    const { home, variables, program } = this.#git;
    const configured = variables.XDG_CONFIG_HOME || join(home, ".config");
    const beside = program === undefined ? [] : [join(realpathOrSelf(program), "../../etc/gitconfig")];
    const system = SWITCHED_ON.test(variables.GIT_CONFIG_NOSYSTEM ?? "") ? [] : [...SYSTEM_FILES, ...beside];
    const named = [variables.GIT_CONFIG_SYSTEM, variables.GIT_CONFIG_GLOBAL].filter(
      (file): file is string => file !== undefined && isAbsolute(file),
    );
    return [...system, join(configured, "git", "config"), join(home, ".gitconfig"), ...named];
  }
}

/** The settings that variables give to git: numbered ones, and those of `git -c`. */
function settingsOfVariables(variables: PersonalGit["variables"]): readonly LocatedSetting[] {
  const found: LocatedSetting[] = [];
  const add = (key: string, value: string) => {
    const middle = key.slice(key.indexOf("."), key.lastIndexOf(".") + 1);
    const [section = "", last = ""] = [key.slice(0, key.indexOf(".")), key.slice(key.lastIndexOf(".") + 1)];
    found.push({ name: `${section.toLowerCase()}${middle}${last.toLowerCase()}`, value, file: undefined });
  };
  const plain = (text: string) => text.replace(/'\\(.)'/g, "$1");
  for (const [, first = "", second] of (variables.GIT_CONFIG_PARAMETERS ?? "").matchAll(
    new RegExp(`${QUOTED}(?:=(?:${QUOTED})?)?`, "g"),
  )) {
    const [key, value] = second === undefined ? splitSetting(plain(first)) : [plain(first), plain(second)];
    add(key, value);
  }
  const count = Number(variables.GIT_CONFIG_COUNT ?? 0);
  for (let index = 0; index < Math.min(count, 1000); index++) {
    const key = variables[`GIT_CONFIG_KEY_${index}`];
    if (key !== undefined) add(key, variables[`GIT_CONFIG_VALUE_${index}`] ?? "");
  }
  return found;
}

function splitSetting(text: string): readonly [string, string] {
  const equals = text.indexOf("=");
  return equals < 0 ? [text, "true"] : [text.slice(0, equals), text.slice(equals + 1)];
}
