/**
 * The user chose their own configuration, but parts of it can mean something else in each repository: a relative path leads into the
 * repository, and so does a program with a relative path.
 */
import { join, resolve } from "node:path";
import { mayBeThere } from "../../system/git/git-folder.js";
import { kindOfSetting, partsOf } from "../../system/git/harmless-settings.js";
import type { ListedSetting } from "../../system/git/settings-files.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { isWithin } from "../../system/within.js";

export interface RepositoryOfUser {
  readonly workspace: string;
  /** Of the work tree. */
  readonly top: string;
  readonly home: string | undefined;
}

/** The hook that git starts even when it only reads: it writes changed file times to the index. */
const LOOKING_HOOK = "post-index-change";
/** Git shows lines of the first when they are no commits, and which names match the lines of others. */
const FILES = new Set(
  "blame.ignorerevsfile core.excludesfile core.attributesfile mailmap.file diff.orderfile".split(" "),
);
/** They run what their words name, which may be a file of the repository. */
const INTERPRETERS =
  /^(node|nodejs|deno|bun|python[\d.]*|perl|ruby|php|lua|sh|bash|dash|zsh|env|npx|npm|pnpm|yarn|make|java|go|cargo|uv|uvx|\.)$/;

/** Tells whether git, as the person has configured it, may run a file of the repository when it only reads. */
export function mayRunRepository(settings: readonly ListedSetting[], place: RepositoryOfUser): boolean {
  if (settings.some((setting) => kindOfSetting(setting) === "fetching")) return true;
  // The condition of an include may not hold, so every folder of hooks counts, also the usual one.
  const folders = settings.filter(({ name }) => name === "core.hookspath");
  if ([undefined, ...folders].some((folder) => hooksAreStarted(folder, place))) return true;
  return settings.some((setting) => setting.owner === "user" && isOfRepository(setting, place));
}

function hooksAreStarted(setting: ListedSetting | undefined, place: RepositoryOfUser): boolean {
  const folder = setting === undefined ? join(place.top, ".git/hooks") : pathOf(setting.value, place);
  if (folder === undefined) return true;
  const isOutside = !isInRepository(folder, place);
  if (setting?.owner === "repository" && isOutside) return true;
  const isOwn = setting?.owner === "user" && /^[/~]/.test(setting.value) && isOutside;
  return !isOwn && mayBeThere(join(folder, LOOKING_HOOK));
}

function isOfRepository({ name, value }: ListedSetting, place: RepositoryOfUser): boolean {
  if (name === "diff.submodule" || name === "status.submodulesummary")
    return kindOfSetting({ name, value }) !== "harmless";
  if (FILES.has(name)) return value !== "" && leadsOut(value, place);
  const { section, middle, key } = partsOf(name);
  const isProgram =
    name === "diff.external" ||
    (section === "filter" && /^(clean|smudge|process)$/.test(key)) ||
    (section === "diff" && middle !== undefined && /^(textconv|command)$/.test(key));
  return isProgram && value !== "" && !isPlainProgram(value, place);
}

/** A file in the repository may be a link to any other. */
function leadsOut(value: string, place: RepositoryOfUser): boolean {
  const path = pathOf(value, place);
  if (path === undefined) return true;
  if (/^[/~]/.test(value) && !isInRepository(path, place)) return false;
  const real = realpathOrSelf(path);
  return mayBeThere(path) && !isWithin(real, place.top);
}

/** A program that is found on the PATH or lies outside, with words that cannot be files of the repository. */
function isPlainProgram(value: string, place: RepositoryOfUser): boolean {
  const [program = "", ...rest] = value.trim().split(/\s+/);
  if (INTERPRETERS.test(program.slice(program.lastIndexOf("/") + 1))) return false;
  if (rest.some((word) => !/^-*[\w%=:,+-]+$/.test(word))) return false;
  if (!program.includes("/")) return /^[\w.+-]+$/.test(program);
  const path = pathOf(program, place);
  return path !== undefined && !program.includes("$") && /^(\/|~\/)/.test(program) && !isInRepository(path, place);
}

/** As git reads a path: from the top of the work tree. Undefined for the folder of another person. */
function pathOf(value: string, { top, home }: RepositoryOfUser): string | undefined {
  if (value.startsWith("~/")) return home === undefined ? undefined : join(home, value.slice(2));
  return value.startsWith("~") || value.startsWith("%(") || value.startsWith(":(") ? undefined : resolve(top, value);
}

function isInRepository(path: string, { top, workspace }: RepositoryOfUser): boolean {
  return [path, realpathOrSelf(path)].some((each) => isWithin(each, top) || isWithin(each, workspace));
}
