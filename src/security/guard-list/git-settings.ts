/**
 * The git settings that count for a repository, each with the file that holds it.
 *
 * 1. Settings of the system and of the person come from git itself, which knows where they are. It runs away from every repository,
 *    so nothing that a project brings is read by it.
 * 2. Settings of a repository come from our own reader. It follows every include, whether or not its condition holds now: the
 *    branch or the folder that it speaks of may be the next one.
 * 3. Files are read again when they changed.
 */
import { execFileSync } from "node:child_process";
import { lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { type GitSetting, readGitConfig } from "../sandbox/git-config.js";

export interface LocatedSetting extends GitSetting {
  /** The file, absolute; empty for one that the environment gives. */
  readonly origin: string;
}

export interface ReadSettings {
  readonly settings: readonly LocatedSetting[];
  /** Every file that was read or would have been. */
  readonly files: readonly string[];
  /** How they looked right before they were read. */
  readonly stamp: string;
}

export interface PersonalGit {
  /** Absolute; undefined where there is no git. */
  readonly program: string | undefined;
  readonly home: string;
  /** Those of the process that tell git where its configuration is. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

const MAX_INCLUDES = 64;
const MAX_BYTES = 1024 * 1024;
const ANSWER_MS = 5000;
const NO_REPOSITORY = "/nonexistent";
const VARIABLES =
  /^(HOME|XDG_CONFIG_HOME|PATH|USERPROFILE|GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|PARAMETERS|COUNT|KEY_\d+|VALUE_\d+))$/;

/** The files and all that they include. */
export function readSettings(files: readonly string[], home: string): ReadSettings {
  const settings: LocatedSetting[] = [];
  const seen = new Map<string, string>();
  const waiting = [...files];
  for (let file = waiting.shift(); file !== undefined && seen.size < MAX_INCLUDES; file = waiting.shift()) {
    if (seen.has(file)) continue;
    seen.set(file, stamp(file));
    for (const setting of readGitConfig(smallText(file))) {
      settings.push({ ...setting, origin: file });
      if (isInclude(setting)) waiting.push(resolve(dirname(file), withHome(setting.value, home)));
    }
  }
  return { settings, files: [...seen.keys()], stamp: [...seen.values()].join("\n") };
}

export function isInclude({ section, key, value }: GitSetting): boolean {
  return (section === "include" || section === "includeif") && key === "path" && value !== "";
}

export function withHome(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
}

/** The settings of the system and of the person, asked for again when one of the files changed. */
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
    const asked = this.#ask();
    const usual = this.#usualFiles();
    const origins = asked.map(({ origin }) => origin).filter((file) => file !== "");
    const own = readSettings([...new Set([...usual, ...origins])], this.#git.home);
    this.#known = { ...own, settings: [...asked.filter(({ origin }) => origin === ""), ...own.settings] };
    return this.#known;
  }

  #usualFiles(): readonly string[] {
    const { home, variables } = this.#git;
    const configured = variables.XDG_CONFIG_HOME || join(home, ".config");
    const named = [variables.GIT_CONFIG_GLOBAL, variables.GIT_CONFIG_SYSTEM].filter((file) => file && isAbsolute(file));
    return [...(named as string[]), "/etc/gitconfig", join(home, ".gitconfig"), join(configured, "git", "config")];
  }

  #ask(): readonly LocatedSetting[] {
    const { program, home, variables } = this.#git;
    if (program === undefined) return [];
    const env = Object.fromEntries(Object.entries(variables).filter(([name]) => VARIABLES.test(name)));
    try {
      const text = execFileSync(program, ["config", "--list", "--show-origin", "-z"], {
        cwd: "/",
        env: { ...env, HOME: home, GIT_DIR: NO_REPOSITORY },
        encoding: "utf8",
        timeout: ANSWER_MS,
        stdio: ["ignore", "pipe", "ignore"],
      });
      return parseListing(text);
    } catch {
      // The files in their usual places still count.
      return [];
    }
  }
}

/** `ORIGIN NUL KEY LF VALUE NUL`, as `git config --list --show-origin -z` prints it. */
export function parseListing(text: string): readonly LocatedSetting[] {
  const fields = text.split("\0");
  const settings: LocatedSetting[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [origin = "", entry = ""] = fields.slice(index, index + 2);
    const end = entry.indexOf("\n");
    const name = end === -1 ? entry : entry.slice(0, end);
    const file = origin.startsWith("file:") ? resolve("/", origin.slice("file:".length)) : "";
    settings.push({
      section: name.slice(0, name.indexOf(".")).toLowerCase(),
      key: name.slice(name.lastIndexOf(".") + 1).toLowerCase(),
      value: end === -1 ? "" : entry.slice(end + 1),
      origin: file,
    });
  }
  return settings;
}

/** Changes whenever one of the files does. */
export function stampOf(files: readonly string[]): string {
  return files.map(stamp).join("\n");
}

function stamp(file: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return `${file} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return lstatSync(file, { throwIfNoEntry: false }) === undefined ? `${file} -` : `${file} ?`;
  }
}

/** Of a plain file only: a pipe would keep us waiting. */
export function smallText(path: string): string {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= MAX_BYTES ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}
