/**
 * The files of the commit that HEAD names, read without git. It stays the same however the repository changes later: commands may write
 * the index and the work tree, but what a person committed before the session began is theirs.
 */
import { dirname, join, relative, sep } from "node:path";
import { pathText } from "../path-bytes.js";
import { gitFolderAround, isThere, namedCommonFolder, namedGitFolder } from "./git-folder.js";
import { GitObjects } from "./git-objects.js";
import { smallText } from "./plain-file.js";

interface TreeEntry {
  readonly kind: "folder" | "file" | "repository";
  readonly name: string;
}

type Tree = ReadonlyMap<string, TreeEntry>;

const MOST_STEPS = 10;
const OBJECT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

export class HeadTree {
  /** The top of the work tree. */
  readonly top: string;
  readonly #objects: GitObjects;
  readonly #root: string;
  readonly #trees = new Map<string, Tree | undefined>();

  private constructor(top: string, { objects, root }: { readonly objects: GitObjects; readonly root: string }) {
    this.top = top;
    this.#objects = objects;
    this.#root = root;
  }

  /** Of the repository around a folder; undefined without one, without a commit, or if its format is unknown. */
  static around(folder: string): HeadTree | undefined {
    const around = gitFolderAround(folder);
    if (around === undefined) return undefined;
    const dotGit = join(around.top, ".git");
    if (!isThere(dotGit)) return undefined;
    const own = namedGitFolder(dotGit) ?? dotGit;
    const common = namedCommonFolder(own) ?? own;
    const objects = new GitObjects(common);
    const head = commitOf("HEAD", own, common);
    const commit = head === undefined ? undefined : objects.read(head);
    const root = /^tree ([0-9a-f]+)\n/.exec(commit?.content.toString("latin1", 0, 80) ?? "")?.[1];
    if (commit?.type === "commit" && root !== undefined && objects.read(root)?.type === "tree")
      return new HeadTree(around.top, { objects, root });
    objects.close();
    return undefined;
  }

  /** Tells what the commit has at this absolute path; undefined if it has nothing there. */
  kindOf(path: string): TreeEntry["kind"] | undefined {
    return path === this.top ? "folder" : this.#entry(path)?.kind;
  }

  /** The text of a file, by its absolute path. */
  text(path: string): string | undefined {
    const entry = this.#entry(path);
    return entry?.kind === "file" ? this.#objects.read(entry.name)?.content.toString() : undefined;
  }

  close(): void {
    this.#objects.close();
  }

  #entry(path: string): TreeEntry | undefined {
    return path === this.top ? undefined : this.#tree(dirname(path))?.get(path.slice(path.lastIndexOf(sep) + 1));
  }

  #tree(folder: string): Tree | undefined {
    if (this.#trees.has(folder)) return this.#trees.get(folder);
    const name = folder === this.top ? this.#root : this.#nameOfFolder(folder);
    const found = name === undefined ? undefined : this.#objects.read(name);
    const tree = found?.type === "tree" ? entriesOf(found.content, (name ?? "").length / 2) : undefined;
    this.#trees.set(folder, tree);
    return tree;
  }

  #nameOfFolder(folder: string): string | undefined {
    if (relative(this.top, folder).startsWith("..")) return undefined;
    const entry = this.#entry(folder);
    return entry?.kind === "folder" ? entry.name : undefined;
  }
}

/** Tells what HEAD, or another name, leads to. */
function commitOf(name: string, own: string, common: string): string | undefined {
  let at = name;
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const text = (smallText(join(own, at)) || smallText(join(common, at))).trim();
    if (OBJECT.test(text)) return text;
    if (text === "") return packedReference(common, at);
    if (!text.startsWith("ref: ")) return undefined;
    at = text.slice("ref: ".length).trim();
    if (!/^refs\/[^\0]+$/.test(at) || at.split("/").includes("..")) return undefined;
  }
  return undefined;
}

function packedReference(common: string, name: string): string | undefined {
  for (const line of smallText(join(common, "packed-refs")).split("\n")) {
    const [commit = "", ...rest] = line.split(" ");
    if (rest.join(" ") === name && OBJECT.test(commit)) return commit;
  }
  return undefined;
}

function entriesOf(content: Buffer, nameBytes: number): Tree {
  const entries = new Map<string, TreeEntry>();
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space);
    if (space === -1 || end === -1) break;
    const mode = content.toString("latin1", at, space);
    const kind = mode === "40000" ? "folder" : mode === "160000" ? "repository" : "file";
    const name = content.toString("hex", end + 1, end + 1 + nameBytes);
    entries.set(pathText(content.subarray(space + 1, end)), { kind, name });
    at = end + 1 + nameBytes;
  }
  return entries;
}
