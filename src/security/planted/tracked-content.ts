/** Whether git checked files out: their content is in the index of the repository around them. */
import { createHash } from "node:crypto";
import { readdirSync, readlinkSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { gitFolderAround, namedGitFolder, statOf } from "../../system/git/git-folder.js";
import { readIndexHashes } from "../../system/git/index-file.js";
import { plainFile } from "../../system/git/plain-file.js";

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_FILES = 2000;
const SHA256_LENGTH = 64;

/** For one scan: it keeps the indexes that it read. */
export class TrackedContent {
  readonly #indexes = new Map<string, ReadonlyMap<string, string> | undefined>();

  /** Of a folder, every file in it. */
  has(path: string): boolean {
    const top = gitFolderAround(dirname(path))?.top;
    if (top === undefined) return false;
    const hashes = this.#index(top);
    const files = hashes && filesIn(path);
    return files?.every((file) => isSame(file, hashes?.get(relative(top, file).split(sep).join("/")))) === true;
  }

  #index(top: string): ReadonlyMap<string, string> | undefined {
    if (!this.#indexes.has(top)) {
      const dotGit = join(top, ".git");
      this.#indexes.set(top, readIndexHashes(join(namedGitFolder(dotGit) ?? dotGit, "index")));
    }
    return this.#indexes.get(top);
  }
}

/** Undefined when there are too many, and when there is none: git does not know empty folders. */
function filesIn(path: string): readonly string[] | undefined {
  if (statOf(path)?.isDirectory() !== true) return [path];
  const found: string[] = [];
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      (entry.isDirectory() ? folders : found).push(join(folder, entry.name));
      if (found.length > MAX_FILES) return undefined;
    }
  }
  return found.length === 0 ? undefined : found;
}

function isSame(file: string, hash: string | undefined): boolean {
  if (hash === undefined) return false;
  const isLink = statOf(file)?.isSymbolicLink() === true;
  const content = isLink ? readlinkSync(file, "buffer") : plainFile(file, MAX_BYTES);
  if (!Buffer.isBuffer(content)) return false;
  const algorithm = hash.length === SHA256_LENGTH ? "sha256" : "sha1";
  return createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest("hex") === hash;
}
