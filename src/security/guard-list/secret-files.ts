/**
 * The secret files of a workspace that commands which run without asking must not read. They do not exist in the views of commands, so it
 * makes no difference how a command reaches them.
 *
 * 1. Only files that git does not track. The content of a tracked file is also in git's objects, test suites need their tracked keys,
 *    and frameworks their tracked `.env` (docs/decisions/0028-secret-files-in-mode-auto.md). Tracked means: in HEAD when the session began.
 * 2. Only files with a secret in them, where the content shows that: a certificate is public, and few `.npmrc` have a login.
 * 3. Not what commands made themselves: `cp .env.example .env` prepares many test runs.
 * 4. Other names of such a file (hard links) count, too, and so does what lies above and beside the workspace in its repository.
 * 5. A folder that Oxbow cannot look into is hidden whole.
 * 6. All folders are looked at when a turn begins. What appears within a turn counts from the next one on.
 */
import { lstatSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import type { Clock } from "../../base/clock.js";
import { isSensitiveFolder } from "../../base/sensitive-path.js";
import { identityOf } from "../../system/file-identity.js";
import { FolderWalk, type Walked } from "../../system/folder-walk.js";
import { gitFolderAround } from "../../system/git/git-folder.js";
import { HeadTree } from "../../system/git/head-tree.js";
import { plainFile } from "../../system/git/plain-file.js";
import { stampOf } from "../../system/git/settings-files.js";
import { fsPath } from "../../system/path-bytes.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { isWithin, outermost } from "../../system/within.js";
import { LinkedFiles } from "./linked-files.js";
import { secretEntries } from "./secret-entries.js";

export interface SecretFilesOptions {
  /** Folders that commands may change, free of links. */
  readonly roots: readonly string[];
  /** The person's own folder: commands do not see the rest of a repository that it belongs to. */
  readonly home: string;
  /** Holds what the user lets commands read: paths from a root, or names; `*` is everything. */
  readonly shown: readonly string[];
  readonly clock: Pick<Clock, "now" | "wall">;
}

type Walk = FolderWalk<readonly string[]>;

const MOST_BYTES = 1024 * 1024;

export class SecretFiles {
  readonly #options: SecretFilesOptions;
  readonly #walks: ReadonlyMap<string, Walk>;
  readonly #linked: LinkedFiles;
  /** The identities of files that commands made. */
  readonly #made = new Set<string>();
  readonly #judged = new Map<string, { readonly stamp: string; readonly holdsSecret: boolean }>();
  /** By the top of a repository, as they were when the session began. */
  readonly #heads = new Map<string, HeadTree | undefined>();
  #hasBegun = false;
  #walked: readonly string[] | undefined;
  #named: readonly string[] = [];
  #found: readonly string[] | undefined;

  constructor(options: SecretFilesOptions) {
    this.#options = options;
    const { roots, home, clock } = options;
    const tops = roots.map((root) => {
      const top = gitFolderAround(root)?.top ?? root;
      return isWithin(home, top) ? root : top;
    });
    const all = [...new Set(outermost(tops))];
    this.#walks = new Map(all.map((top) => [top, walkOf(top, clock)]));
    this.#linked = new LinkedFiles({ roots: all, clock, hidden: () => this.#named });
  }

  /** To be called when a turn begins, and after a program changed the folders directly: the next answer comes from a new search. */
  mayHaveChanged(): void {
    this.#walked = undefined;
    this.#found = undefined;
  }

  /** Does ahead what the first command would wait for. */
  async prepare(): Promise<void> {
    if (this.#walked !== undefined) return;
    const walked = await Promise.all(
      [...this.#walks].map(async ([top, walk]) => candidatesIn(top, await walk.inSlices())),
    );
    this.#walked ??= walked.flat();
  }

  /** Files and folders to hide, free of links. */
  find(): readonly string[] {
    this.#found ??= this.#find();
    return this.#found;
  }

  /** A command made these, without having seen another file of the name. Absolute. */
  noteMade(paths: readonly string[]): void {
    for (const path of paths) {
      const found = statHere(path);
      // A link leads to what exists already.
      if (found?.isFile() === true && found.nlink === 1) this.#made.add(identityOf(path));
    }
    if (paths.length > 0) this.mayHaveChanged();
  }

  /** For a command that writes into the real folders. Returns what to call when it has ended: what is new then is its own. */
  beginDirect(): () => void {
    const before = new Set(this.find().map(identityOf));
    return () => {
      this.mayHaveChanged();
      this.noteMade(this.find().filter((path) => !before.has(identityOf(path))));
    };
  }

  close(): void {
    for (const head of this.#heads.values()) head?.close();
    this.#heads.clear();
  }

  #find(): readonly string[] {
    this.#walked ??= [...this.#walks].flatMap(([top, walk]) => candidatesIn(top, walk.now()));
    this.#named = this.#walked.filter((path) => this.#isSecret(path));
    this.#hasBegun = true;
    const linked = this.#named.length === 0 ? [] : this.#linked.aliases();
    return [...new Set([...this.#named.map(realpathOrSelf), ...linked])];
  }

  #isSecret(path: string): boolean {
    if (this.#isShown(path) || this.#made.has(identityOf(path))) return false;
    return this.#holdsSecret(path) && !this.#isTracked(path);
  }

  #isShown(path: string): boolean {
    const { shown, roots } = this.#options;
    return shown.some((entry) => {
      if (entry === "*" || path.endsWith(`/${entry}`)) return true;
      return (isAbsolute(entry) ? [entry] : roots.map((root) => join(root, entry))).some((place) =>
        isWithin(path, place),
      );
    });
  }

  #holdsSecret(path: string): boolean {
    const found = statOf(path);
    if (found === undefined) return false;
    if (found.isDirectory()) return true;
    if (!found.isFile()) return true;
    const stamp = stampOf([path]);
    const known = this.#judged.get(path);
    if (known?.stamp === stamp) return known.holdsSecret;
    const holdsSecret = found.size > 0 && contentHoldsSecret(path);
    this.#judged.set(path, { stamp, holdsSecret });
    return holdsSecret;
  }

  /** Of a repository that appeared later, nothing counts as tracked. */
  #isTracked(path: string): boolean {
    const top = gitFolderAround(dirname(path))?.top;
    if (top === undefined) return false;
    if (!this.#heads.has(top)) this.#heads.set(top, this.#hasBegun ? undefined : HeadTree.around(top));
    return this.#heads.get(top)?.kindOf(path) !== undefined;
  }
}

function walkOf(top: string, { wall }: Pick<Clock, "wall">): Walk {
  return new FolderWalk(top, wall, (folder, names) => secretEntries(relative(top, folder), names));
}

/** Returns what has the name of a secret file, and what could not be searched. */
function candidatesIn(top: string, { notes, closed }: Walked<readonly string[]>): readonly string[] {
  const named = [...notes].flatMap(([folder, names]) => names.map((name) => join(folder, name)));
  const folders = named.filter((path) => statOf(path)?.isDirectory() === true);
  const secret = new Set(folders.filter((path) => isSensitiveFolder(relative(top, path))));
  return [...named.filter((path) => !folders.includes(path) || secret.has(path)), ...closed];
}

/** Links are not followed. */
function statHere(path: string): Stats | undefined {
  return lstatSync(fsPath(path), { throwIfNoEntry: false });
}

/** Follows links. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(fsPath(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const SETTINGS = /(^|\/)\.(npmrc|yarnrc\.yml)$/i;
const LOGIN = /_auth|_password|authtoken|authident|password|token|:\/\/[^/\s@]*:[^/\s@]*@/i;
const MAYBE_PUBLIC = /\.(pem|key|asc)$/i;

/** True if only the name can tell. */
function contentHoldsSecret(path: string): boolean {
  if (!SETTINGS.test(path) && !MAYBE_PUBLIC.test(path)) return true;
  const bytes = plainFile(path, MOST_BYTES);
  if (!Buffer.isBuffer(bytes)) return true;
  const text = bytes.toString("latin1");
  if (SETTINGS.test(path)) return LOGIN.test(text);
  return !text.includes("-----BEGIN ") || text.includes("PRIVATE KEY");
}
