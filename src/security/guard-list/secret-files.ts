/**
 * The secret files of a workspace that commands which run without asking must not read. The sandbox covers them, so it makes no
 * difference how a command reaches them.
 *
 * 1. Only files that git does not track. The content of a tracked file is also in git's objects, test suites need their tracked keys,
 *    and frameworks their tracked `.env` (docs/decisions/0028-secret-files-in-mode-auto.md).
 * 2. Only files with a secret in them, where the content shows that: a certificate is public, and few `.npmrc` have a login.
 * 3. Not what commands made themselves (`madeByCommands`): `cp .env.example .env` prepares many test runs.
 * 4. Other names of such a file (hard links) are covered, too.
 * 5. A covered file stays covered when a command moves it with its folder to a place that no search enters.
 */
import { lstatSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import type { Clock } from "../../base/clock.js";
import { isSensitiveFolder } from "../../base/sensitive-path.js";
import { identityOf } from "../../system/file-identity.js";
import { gitFolderAround } from "../../system/git/git-folder.js";
import { readIndexPaths } from "../../system/git/index-file.js";
import { plainFile } from "../../system/git/plain-file.js";
import { stampOf } from "../../system/git/settings-files.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { isWithin } from "../../system/within.js";
import { filesBelow, LinkedFiles } from "./linked-files.js";

export interface SecretFilesOptions {
  /** Folders that commands may change, free of links. */
  readonly roots: readonly string[];
  /** Paths with the names of secret files, nearest first. */
  candidates(): readonly string[];
  /** What the user lets commands read: paths from a root, or names; `*` is everything. */
  readonly shown: readonly string[];
  /** The identities of files that commands made. All sandboxes of a session share it. */
  readonly madeByCommands: Set<string>;
  readonly clock: Pick<Clock, "now">;
}

/** More mounts than these would slow down every command. */
const MOST = 64;
const MOST_BYTES = 1024 * 1024;
/** Entries to look at for a file that was moved. */
const MOST_SEARCHED = 300_000;

export class SecretFiles {
  readonly #options: SecretFilesOptions;
  readonly #linked: LinkedFiles;
  /** The paths of files that a command found covered, by identity. */
  readonly #covered = new Map<string, string>();
  readonly #judged = new Map<string, { readonly stamp: string; readonly holdsSecret: boolean }>();
  readonly #tracked = new Map<string, { readonly stamp: string; readonly paths: ReadonlySet<string> }>();

  constructor(options: SecretFilesOptions) {
    this.#options = options;
    const { roots, clock } = options;
    this.#linked = new LinkedFiles({ roots, clock, guarded: () => this.#named() });
  }

  /** Files and folders to cover, free of links. */
  find(): readonly string[] {
    const named = this.#named().map(realpathOrSelf);
    const linked = named.length === 0 ? [] : this.#linked.aliases();
    const found = new Set([...named, ...linked]);
    for (const path of this.#moved(found)) found.add(path);
    if (found.size <= MOST) return [...found];
    // A command that makes many such files cannot push out those that were covered before.
    const isKnown = (path: string) => this.#covered.has(identityOf(path));
    const all = [...found];
    return [...all.filter(isKnown), ...all.filter((path) => !isKnown(path))].slice(0, MOST);
  }

  /** A command begins that cannot read these. */
  noteCovered(paths: readonly string[]): void {
    for (const path of paths) this.#covered.set(identityOf(path), path);
  }

  /** A command has ended: secret files that exist now and that no command found covered are its own. */
  noteMade(): void {
    for (const path of this.#named()) {
      const found = lstatSync(path, { throwIfNoEntry: false });
      const identity = identityOf(path);
      // A link leads to what exists already.
      const isNew = found?.isFile() === true && found.nlink === 1 && !this.#covered.has(identity);
      if (isNew) this.#options.madeByCommands.add(identity);
    }
  }

  /** Where covered files are now that are no longer where they were. */
  #moved(found: ReadonlySet<string>): readonly string[] {
    const identities = new Set([...found].map(identityOf));
    const kept: string[] = [];
    const lost = new Set<string>();
    for (const [identity, path] of this.#covered) {
      if (identities.has(identity)) continue;
      if (identityOf(path) !== identity) lost.add(identity);
      else if (!this.#isShown(path) && !this.#isTracked(path)) kept.push(path);
    }
    if (lost.size === 0) return kept;
    const all = this.#options.roots.flatMap((root) => [...filesBelow(root, { most: MOST_SEARCHED, folders: "too" })]);
    const moved = all.filter((path) => lost.has(identityOf(path)));
    for (const identity of lost) this.#covered.delete(identity);
    this.noteCovered(moved);
    return [...kept, ...moved];
  }

  #named(): readonly string[] {
    const { candidates, madeByCommands } = this.#options;
    return candidates().filter((path) => {
      if (this.#isShown(path) || madeByCommands.has(identityOf(path))) return false;
      return this.#holdsSecret(path) && !this.#isTracked(path);
    });
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
    const root = this.#options.roots.find((folder) => isWithin(path, folder)) ?? "/";
    if (found.isDirectory()) return isSensitiveFolder(relative(root, path));
    if (!found.isFile()) return true;
    const stamp = stampOf([path]);
    const known = this.#judged.get(path);
    if (known?.stamp === stamp) return known.holdsSecret;
    const holdsSecret = found.size > 0 && contentHoldsSecret(path);
    this.#judged.set(path, { stamp, holdsSecret });
    return holdsSecret;
  }

  #isTracked(path: string): boolean {
    const around = gitFolderAround(dirname(path));
    const [config] = around?.configs ?? [];
    if (around === undefined || config === undefined) return false;
    const index = join(dirname(config), "index");
    const stamp = stampOf([index]);
    let known = this.#tracked.get(index);
    if (known?.stamp !== stamp) {
      // Nothing is known to be tracked in an index that is not understood.
      known = { stamp, paths: readIndexPaths(index) ?? new Set() };
      this.#tracked.set(index, known);
    }
    const way = relative(around.top, path);
    return known.paths.has(way) || (statOf(path)?.isDirectory() === true && hasBelow(known.paths, way));
  }
}

function hasBelow(paths: ReadonlySet<string>, folder: string): boolean {
  for (const path of paths) if (path.startsWith(`${folder}/`)) return true;
  return false;
}

/** Follows links. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
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
