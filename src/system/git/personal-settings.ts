/**
 * The git settings of the system and of the user. Git says where they are. It runs outside every repository, so it reads nothing
 * of a project. The files are read again when one of them changed.
 */
import { isAbsolute, join } from "node:path";
import { listSettings } from "./listed-settings.js";
import { type LocatedSetting, type ReadSettings, readSettings, stampOf } from "./settings-files.js";

export interface PersonalGit {
  /** Absolute; undefined where there is no git. */
  readonly program: string | undefined;
  readonly home: string;
  /** Variables that tell git where its configuration is. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

const NO_REPOSITORY = "/nonexistent";
const VARIABLES =
  /^(HOME|XDG_CONFIG_HOME|PATH|USERPROFILE|GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|PARAMETERS|COUNT|KEY_\d+|VALUE_\d+))$/;

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
    const listed = this.#list();
    const named = listed.flatMap(({ file }) => file ?? []);
    const own = readSettings([...new Set([...this.#usualFiles(), ...named])], this.#git.home);
    const fromNoFile = listed.filter(({ file }) => file === undefined);
    this.#known = { ...own, settings: [...own.settings, ...fromNoFile] };
    return this.#known;
  }

  /** They apply even if git does not answer. The later ones win. */
  #usualFiles(): readonly string[] {
    const { home, variables } = this.#git;
    const configured = variables.XDG_CONFIG_HOME || join(home, ".config");
    const named = [variables.GIT_CONFIG_SYSTEM, variables.GIT_CONFIG_GLOBAL].filter((file) => file && isAbsolute(file));
    return ["/etc/gitconfig", join(configured, "git", "config"), join(home, ".gitconfig"), ...(named as string[])];
  }

  #list(): readonly LocatedSetting[] {
    const { program, home, variables } = this.#git;
    if (program === undefined) return [];
    const passed = Object.entries(variables).filter(([name, value]) => VARIABLES.test(name) && value !== undefined);
    const environment = {
      ...(Object.fromEntries(passed) as Record<string, string>),
      HOME: home,
      GIT_DIR: NO_REPOSITORY,
    };
    return listSettings({ program, folder: "/", top: "/", environment }) ?? [];
  }
}
