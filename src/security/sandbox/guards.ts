/**
 * Which places inside a writable folder must not change, so that a sandboxed command cannot leave something behind that a
 * program outside runs later.
 *
 * 1. In a repository these are the hooks, the configuration with the files it includes, the folder `core.hooksPath` names, and
 *    `commondir`, a file that would lead git to another configuration. The same holds for nested repositories, submodules
 *    and worktrees.
 * 2. A place that does not exist must not come into being. Mounts need something to lie on, so such a place is listed as
 *    missing, with a harmless placeholder while the command runs.
 * 3. Every folder on the way from the writable root to a guarded place is pinned: it may be written to, but not renamed, or
 *    it could be replaced.
 * 4. A symbolic link cannot be mounted on. In a git folder it makes the whole folder read-only; where a root would have to be
 *    read-only it is an error.
 */
import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import {
  type GitFolder,
  gitFolderAround,
  gitFolderAt,
  isGitFolder,
  namedCommonFolder,
  namedGitFolder,
  statOf,
} from "../../system/git/git-folder.js";
import { HOOKS } from "../../system/git/hook-names.js";
import { smallText } from "../../system/git/plain-file.js";
import { includedFile, readSettings, withHome } from "../../system/git/settings-files.js";
import { realpathOrSelf, realpathSoFar } from "../../system/real-path.js";
import { isWithin } from "../../system/within.js";
import { SandboxError } from "./policy.js";

export interface Missing {
  readonly path: string;
  /** The text of a file; without it a folder. */
  readonly content?: string;
}

export interface Guards {
  /** Mounted over themselves; outer ones before inner ones. */
  readonly pinned: readonly string[];
  readonly readOnly: readonly string[];
  /** The part of `readOnly` that does not exist yet. */
  readonly missing: readonly Missing[];
}

/** More of a kind than this are made read-only as one folder: every mount costs time. */
const MAX_PARTS = 16;
/** Of the places on the guard list, the nearest ones first. */
const MAX_PLACES = 200;

export interface GuardRequest {
  /** Writable folders. */
  readonly roots: readonly string[];
  /** Names below each root, or absolute paths. */
  readonly names: readonly string[];
  /** Folders below the roots that hold a `.git`, or are a repository without a work tree. */
  readonly nested: readonly string[];
  /** Hook folders that the user's own git configuration names, from the top of every repository. */
  readonly hookFolders?: readonly string[];
  /** Files and folders that exist and are on the guard list. */
  readonly places?: readonly string[];
}

export function findGuards({ roots, names, nested, places = [], ...more }: GuardRequest): Guards {
  const collection = new Collection({ roots, ...more });
  for (const place of places.slice(0, MAX_PLACES)) collection.guardExisting(place);
  for (const root of roots) {
    if (isGitFolder(root)) collection.guardGitFolder(root);
    if (basename(root) === ".git") continue;
    for (const name of names) collection.guardPlace(resolve(root, name), {});
    collection.guardRepository(root);
    const around = gitFolderAround(root);
    if (around !== undefined) collection.guardConfigured(around);
  }
  nested.forEach((folder, index) => {
    try {
      collection.guardNested(folder, { isOneOfMany: index >= MAX_PARTS });
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      // Its `.git` leads nowhere that can be held. One such folder must not keep commands from running.
      collection.readOnly(folder);
    }
  });
  return collection.result();
}

class Collection {
  readonly #roots: readonly string[];
  readonly #hookFolders: readonly string[];
  readonly #pinned = new Set<string>();
  readonly #readOnly = new Set<string>();
  readonly #missing = new Map<string, Missing>();

  constructor({ roots, hookFolders = [] }: Pick<GuardRequest, "roots" | "hookFolders">) {
    this.#roots = roots;
    this.#hookFolders = hookFolders;
  }

  result(): Guards {
    const inReadOnly = (path: string) => ancestors(path).some((folder) => this.#readOnly.has(folder));
    return {
      pinned: [...this.#pinned].filter((path) => !this.#readOnly.has(path) && !inReadOnly(path)).sort(),
      readOnly: [...this.#readOnly].filter((path) => !inReadOnly(path)).sort(),
      missing: [...this.#missing.values()].filter(({ path }) => !inReadOnly(path)),
    };
  }

  readOnly(path: string): void {
    const root = this.#roots.find((folder) => isWithin(path, folder));
    if (root === undefined) return;
    this.#readOnly.add(path);
    for (const folder of ancestors(path)) if (folder !== root && isWithin(folder, root)) this.#pinned.add(folder);
  }

  /** What a link leads to can be held, the link itself cannot. */
  guardExisting(path: string): void {
    const real = realpathOrSelf(path);
    if (kindOf(real) !== "missing" && !this.#roots.includes(real)) this.readOnly(real);
  }

  /** `content` says what a missing file may hold; without it a folder is missing. */
  guardPlace(path: string, { content }: { readonly content?: string }): void {
    const root = this.#roots.find((folder) => isWithin(path, folder));
    if (root === undefined || root === path) return;
    const inner = ancestors(path).filter((folder) => folder !== root && isWithin(folder, root));
    const place = inner.reverse().find((folder) => kindOf(folder) !== "folder") ?? path;
    const kind = kindOf(place);
    if (kind === "link") throw linkError(place);
    if (kind === "missing") this.#missing.set(place, asMissing(place === path ? content : undefined, place));
    this.readOnly(place);
  }

  /** A folder below a root that holds a `.git`, or is a repository without a work tree. */
  guardNested(folder: string, { isOneOfMany }: { readonly isOneOfMany: boolean }): void {
    const dotGit = join(folder, ".git");
    const kind = kindOf(dotGit);
    if (isGitFolder(folder)) {
      if (isOneOfMany) this.readOnly(folder);
      else this.guardGitFolder(folder);
    }
    const own = isOneOfMany ? undefined : gitFolderAt(folder);
    if (own !== undefined) this.guardConfigured(own);
    if (kind === "missing") return;
    // The link itself cannot be guarded, but its target can.
    if (kind === "link") this.guardGitFolder(realpathOrSelf(dotGit));
    else if (isOneOfMany) this.readOnly(dotGit);
    else this.guardRepository(folder);
  }

  /** The repository whose work tree begins in this folder, if it were one. */
  guardRepository(top: string): void {
    const dotGit = join(top, ".git");
    const kind = kindOf(dotGit);
    if (kind === "folder" && isGitFolder(dotGit)) {
      this.guardGitFolder(dotGit);
      return;
    }
    this.guardPlace(dotGit, {});
    if (kind !== "file") return;
    const target = namedGitFolder(dotGit);
    if (target !== undefined) this.guardGitFolder(realpathSoFar(target));
  }

  guardGitFolder(folder: string): void {
    if (!this.#roots.some((root) => isWithin(folder, root))) return;
    const isWorktree = kindOf(join(folder, "gitdir")) === "file";
    const common = isWorktree ? (namedCommonFolder(folder) ?? folder) : folder;
    const config = smallText(join(common, "config"));
    // A worktree has no configuration or hooks of its own, unless the common one enables them.
    const places: Place[] = [{ name: "commondir", content: ".\n" }];
    if (!isWorktree) places.push({ name: "config", content: "" }, { name: "hooks" });
    if (/worktreeconfig/i.test(config)) places.push({ name: "config.worktree", content: "" });
    if (places.some(({ name }) => kindOf(join(folder, name)) === "link")) {
      this.readOnly(folder);
      return;
    }
    for (const { name, ...missing } of places) this.guardPlace(join(folder, name), missing);
    const worktrees = join(folder, "worktrees");
    this.#guardAll(subfolders(worktrees), worktrees);
    this.#guardModules(join(folder, "modules"));
  }

  /** What the configuration of the repository around this folder names. */
  guardConfigured({ top, configs }: GitFolder): void {
    const home = homedir();
    for (const setting of readSettings(configs, home).settings) {
      if (setting.name === "core.hookspath" && setting.value !== "")
        this.#guardHooks(withHome(setting.value, home), top);
      const included = includedFile(setting, home);
      if (included !== undefined) this.#guardNamed(included, { content: "" });
    }
    for (const path of this.#hookFolders) this.#guardHooks(path, top);
  }

  /** A folder with a work tree stays writable, except the hooks in it. */
  #guardHooks(path: string, top: string): void {
    const folder = realpathOrSelf(resolve(top, path));
    if (folder !== top && !this.#roots.includes(folder)) this.#guardNamed(resolve(top, path), {});
    else for (const name of HOOKS) this.#guardNamed(join(folder, name), { content: "" });
  }

  /** Named by the configuration: it may lead anywhere, also over links that cannot be held. */
  #guardNamed(path: string, missing: { readonly content?: string }): void {
    try {
      this.guardPlace(free(path), missing);
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
    }
  }

  /** A submodule's name may have slashes in it, so its git folder lies at any depth. */
  #guardModules(folder: string): void {
    const found: string[] = [];
    const look = (place: string) => {
      for (const part of subfolders(place)) {
        if (isGitFolder(part)) found.push(part);
        else if (found.length <= MAX_PARTS) look(part);
      }
    };
    look(folder);
    this.#guardAll(found, folder);
  }

  #guardAll(parts: readonly string[], folder: string): void {
    if (parts.length > MAX_PARTS) this.readOnly(folder);
    else for (const part of parts) this.guardGitFolder(part);
  }
}

function asMissing(content: string | undefined, path: string): Missing {
  return content === undefined ? { path } : { path, content };
}

function linkError(path: string): SandboxError {
  return new SandboxError(
    `${path} is a symbolic link, and the sandbox cannot protect it. Replace it with a real folder, or ask the user to run the command outside the sandbox.`,
  );
}

/** The folders above, the nearest first. */
function ancestors(path: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) folders.push(folder);
  return folders;
}

interface Place {
  readonly name: string;
  readonly content?: string;
}

type Kind = "missing" | "folder" | "file" | "link";

function kindOf(path: string): Kind {
  const found = statOf(path);
  if (found === undefined) return "missing";
  if (found.isSymbolicLink()) return "link";
  return found.isDirectory() ? "folder" : "file";
}

/** Without links in the path, as far as it exists; the last entry is not resolved. */
function free(path: string): string {
  const folder = dirname(path);
  if (folder === path) return path;
  return join(kindOf(folder) === "missing" ? free(folder) : realpathOrSelf(folder), basename(path));
}

function subfolders(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
  } catch {
    return [];
  }
}
