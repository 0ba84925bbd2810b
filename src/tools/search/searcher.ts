/**
 * Finding files and lines in the workspace: with ripgrep where it can be had, without it otherwise, to the same result.
 *
 * What is known to differ without ripgrep, besides rust-regex: bytes that are not UTF-8 can be matched (as U+FFFD); in a
 * search across lines a NUL byte far behind the last match still makes a file binary, and files over 64 MiB are left out;
 * `?` and `[…]` in ignore files match whole characters, not bytes.
 */
import { join } from "node:path";
import { isInside } from "../files/containment.js";
import { HeldDirectory } from "../files/held-directory.js";
import { isRealPath } from "../files/lookups.js";
import { printable } from "../files/printable.js";
import { fromSystem } from "../files/workspace-error.js";
import type { ResolvedPath, Workspace } from "../workspace.js";
import { type BuiltInSearch, searchFile, searchTree } from "./built-in-search.js";
import { type FindRipgrepOptions, findRipgrep } from "./find-ripgrep.js";
import { type Findings, FoundFiles } from "./found-files.js";
import { globMatcher } from "./glob-pattern.js";
import { hasStrayIgnoreFiles, type IgnoreTop, ignoreTop } from "./ignore-files.js";
import { ripgrepFiles, ripgrepOne, ripgrepSearch } from "./ripgrep.js";
import { RipgrepUnusable } from "./ripgrep-process.js";
import { comparePaths, type SearchRequest } from "./search-request.js";
import { walkTree } from "./tree-walk.js";

export interface SearcherOptions extends FindRipgrepOptions {
  /** The program to use; `false` for none. Looked for when not given. */
  readonly ripgrep?: string | false;
  /** Without ripgrep: how long one batch of files may take before the expression is given up. Default 10 s. */
  readonly limitMs?: number;
}

const LIMIT_MS = 10_000;

export interface SearchResult extends Findings {
  readonly start: ResolvedPath;
  /** `file` when the search was for one file; then that is the only path, and empty. */
  readonly kind: "folder" | "file";
  /** The one file is binary: nothing was searched. */
  readonly isBinary: boolean;
}

/** A folder to search, with what counts above it. */
interface Tree extends IgnoreTop {
  readonly start: ResolvedPath;
  readonly parents: "obey" | "ignore";
  /** Ripgrep would obey ignore files that lie above everything that counts for us. */
  readonly needsBuiltIn: boolean;
}

export class Searcher {
  readonly #workspace: Workspace;
  readonly #options: SearcherOptions;
  #ripgrep: Promise<string | undefined> | undefined;

  constructor(workspace: Workspace, options: SearcherOptions = {}) {
    this.#workspace = workspace;
    this.#options = options;
  }

  /** Files below a folder that are not ignored and match the glob, relative to the folder, by path. */
  async files(path: string, glob: string, signal: AbortSignal): Promise<{ start: ResolvedPath; files: string[] }> {
    const tree = await this.#tree(await this.#workspace.resolve(path, "read"));
    const matcher = globMatcher(glob);
    let files: string[] = [];
    await this.#withEither(tree, {
      ripgrep: (program, cwd) => ripgrepFiles({ ...tree, program, cwd, signal }, glob, (file) => files.push(file)),
      builtIn: () => {
        files = [];
        return walkTree(tree.start.absolute, { ...tree, signal }, async (folder) => {
          for (const name of folder.files)
            if (matcher?.test(folder.prefix + name) === true) files.push(folder.prefix + name);
        });
      },
    });
    return { start: tree.start, files: files.sort(comparePaths) };
  }

  /** Throws `PatternError` for a pattern that cannot be used. */
  async search(path: string, request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
    const { kind, path: start } = await this.#workspace.stat(path);
    if (kind !== "folder") return this.#searchOne(start, request, signal);
    const tree = await this.#tree(start);
    let found = new FoundFiles(request);
    const engine = await this.#withEither(tree, {
      ripgrep: (program, cwd) => ripgrepSearch({ ...tree, program, cwd, signal }, request, found),
      builtIn: () => {
        found = new FoundFiles(request);
        return searchTree(start.absolute, this.#builtIn(request), { ...tree, signal, found });
      },
    });
    const findings = found.findings();
    const files = engine === "ripgrep" ? await stillInPlace(start.absolute, findings.files) : findings.files;
    return { ...findings, files, start, kind: "folder", isBinary: false };
  }

  async #searchOne(start: ResolvedPath, request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
    const result = await this.#workspace.withFile(start.absolute, async (handle) => {
      const program = await this.#program();
      if (program !== undefined) {
        try {
          return await ripgrepOne({ program, cwd: this.#workspace.root, signal, input: handle.fd }, request);
        } catch (error) {
          if (!(error instanceof RipgrepUnusable)) throw error;
          this.#ripgrep = Promise.resolve(undefined);
        }
      }
      return searchFile(handle, this.#builtIn(request));
    });
    const found = new FoundFiles(request);
    if (result !== undefined && result.count > 0) found.add({ path: "", count: result.count, lines: result.lines });
    return { ...found.findings(), start, kind: "file", isBinary: result === undefined };
  }

  #builtIn(request: SearchRequest): BuiltInSearch {
    return { request, limitMs: this.#options.limitMs ?? LIMIT_MS };
  }

  async #tree(start: ResolvedPath): Promise<Tree> {
    const root = this.#workspace.roots.find((each) => isInside(start.absolute, [each])) ?? this.#workspace.root;
    const top = await ignoreTop(root);
    if (start.absolute === top.top) return { ...top, start, parents: "ignore", needsBuiltIn: false };
    return { ...top, start, parents: "obey", needsBuiltIn: await hasStrayIgnoreFiles(top) };
  }

  async #withEither(
    tree: Tree,
    engines: { ripgrep(program: string, cwd: string): Promise<void>; builtIn(): Promise<void> },
  ): Promise<"ripgrep" | "built-in"> {
    const program = tree.needsBuiltIn ? undefined : await this.#program();
    if (program !== undefined) {
      const shown = printable(tree.start.display);
      const held = await HeldDirectory.open(tree.start.absolute, shown).catch((error: unknown) => {
        throw fromSystem(error, shown);
      });
      try {
        await engines.ripgrep(program, held.path);
        return "ripgrep";
      } catch (error) {
        if (!(error instanceof RipgrepUnusable)) throw error;
        this.#ripgrep = Promise.resolve(undefined);
      } finally {
        await held.close();
      }
    }
    await engines.builtIn();
    return "built-in";
  }

  #program(): Promise<string | undefined> {
    const { ripgrep, limitMs: _, ...where } = this.#options;
    if (ripgrep === false) return Promise.resolve(undefined);
    this.#ripgrep ??=
      ripgrep === undefined ? findRipgrep({ avoid: this.#workspace.roots, ...where }) : Promise.resolve(ripgrep);
    return this.#ripgrep;
  }
}

/** Ripgrep opens files by their paths; one that was swapped for a link meanwhile does not count. */
async function stillInPlace<T extends { readonly path: string }>(
  start: string,
  files: readonly T[],
): Promise<readonly T[]> {
  const inPlace = await Promise.all(files.map((file) => isRealPath(join(start, file.path))));
  return files.filter((_, index) => inPlace[index]);
}
