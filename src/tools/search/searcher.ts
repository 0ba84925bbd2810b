/**
 * Finds files and lines in the workspace: with ripgrep if it is available, else without it, with the same results.
 *
 * Known differences without ripgrep, besides rust-regex: bytes that are not UTF-8 can be matched (as U+FFFD); in a
 * search across lines a NUL byte far behind the last match still makes a file binary, and files over 64 MiB are left out;
 * `?` and `[…]` in ignore files match whole characters, not bytes.
 */
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { sensitiveReason } from "../../base/sensitive-path.js";
import { hasSeveralNames } from "../../system/file-identity.js";
import { isInside } from "../files/containment.js";
import { HeldDirectory } from "../files/held-directory.js";
import { printable } from "../files/printable.js";
import { looksBinary } from "../files/text-file.js";
import { fromSystem } from "../files/workspace-error.js";
import type { ResolvedPath, Workspace } from "../workspace.js";
import { type BuiltInSearch, searchFile, searchTree } from "./built-in-search.js";
import { confirmLines, confirmPlaces } from "./confirm-files.js";
import { type FindRipgrepOptions, findRipgrep } from "./find-ripgrep.js";
import { type Findings, FoundFiles } from "./found-files.js";
import { globMatcher } from "./glob-pattern.js";
import { hasStrayIgnoreFiles, type IgnoreTop, ignoreTop } from "./ignore-files.js";
import { ripgrepFiles, ripgrepOne, ripgrepSearch } from "./ripgrep.js";
import { RipgrepSilent, RipgrepUnusable } from "./ripgrep-process.js";
import type { FoundFile, SearchRequest } from "./search-request.js";
import { walkTree } from "./tree-walk.js";

export interface SearcherOptions extends FindRipgrepOptions {
  /** The program to use; `false` for none. Default: search for it. */
  readonly ripgrep?: string | false;
  /** Says how long ripgrep may write nothing before the search continues without it. */
  readonly silentMs?: number;
  /** Without ripgrep: how long one batch of files may take before the search stops. Default: 10 s. */
  readonly limitMs?: number;
}

const LIMIT_MS = 10_000;
const SNIFF_BYTES = 8192;

export interface SearchResult extends Findings {
  readonly start: ResolvedPath;
  /** `file` if the search was for one file; then its path is empty. */
  readonly kind: "folder" | "file";
  /** The one file is binary: nothing was searched. */
  readonly isBinary: boolean;
}

export interface FilesRequest {
  readonly glob: string;
  /** The number of files to return; the others are only counted. */
  readonly limit: number;
}

export interface NamesRequest {
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface FilesResult {
  readonly start: ResolvedPath;
  readonly files: readonly string[];
  readonly total: number;
}

const NO_LINES: FoundFile["lines"] = [];

/** A folder to search, with the ignore files above it. */
interface Tree extends IgnoreTop {
  readonly start: ResolvedPath;
  readonly parents: "obey" | "ignore";
  /** Ripgrep would obey ignore files above those that apply for us. */
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

  /** The first files by path below a folder that are not ignored and match the glob, relative to the folder. */
  async files(path: string, { glob, limit }: FilesRequest, signal: AbortSignal): Promise<FilesResult> {
    const { silentMs } = this.#options;
    const tree = await this.#tree(await this.#workspace.resolve(path, "read"));
    const matcher = globMatcher(glob);
    const start = () => new FoundFiles({ mode: "files", limit });
    let found = start();
    const add = (file: string) => found.add({ path: file, count: 0, lines: NO_LINES });
    await this.#withEither(tree, {
      ripgrep: (program, cwd) => ripgrepFiles({ ...tree, program, cwd, signal, silentMs }, glob, add),
      builtIn: () => {
        found = start();
        return walkTree(tree.start.absolute, { ...tree, signal }, async (folder) => {
          for (const name of folder.files) if (matcher?.test(folder.prefix + name) === true) add(folder.prefix + name);
        });
      },
    });
    const { files, totalFiles } = found.findings();
    return { start: tree.start, files: files.map((file) => file.path), total: totalFiles };
  }

  /** The files below a folder that are not ignored, in no particular order. When the signal fires, it returns those found so far. */
  async names(path: string, { limit, signal }: NamesRequest): Promise<readonly string[]> {
    const { silentMs } = this.#options;
    const tree = await this.#tree(await this.#workspace.resolve(path, "read"));
    const enough = new AbortController();
    const either = AbortSignal.any([signal, enough.signal]);
    const found = new Set<string>();
    const add = (file: string): void => {
      if (found.size < limit) found.add(file);
      else enough.abort();
    };
    try {
      await this.#withEither(tree, {
        ripgrep: (program, cwd) => ripgrepFiles({ ...tree, program, cwd, signal: either, silentMs }, "**", add),
        builtIn: () =>
          walkTree(tree.start.absolute, { ...tree, signal: either }, async (folder) => {
            for (const name of folder.files) add(folder.prefix + name);
          }),
      });
    } catch (error) {
      if (!either.aborted) throw error;
    }
    return [...found];
  }

  /** Throws `PatternError` for a pattern that cannot be used. */
  async search(path: string, request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
    const { silentMs } = this.#options;
    const { kind, path: start } = await this.#workspace.stat(path);
    if (kind !== "folder") return this.#searchOne(start, request, signal);
    const tree = await this.#tree(start);
    // It may be one of Oxbow's own files under another name.
    const isDoubtful = (file: string) => hasSeveralNames(join(start.absolute, file));
    const withheld = { isWithheld: withholding(start.display), isDoubtful };
    let found = new FoundFiles(request, withheld);
    const engine = await this.#withEither(tree, {
      ripgrep: (program, cwd) => ripgrepSearch({ ...tree, program, cwd, signal, silentMs }, request, found),
      builtIn: () => {
        found = new FoundFiles(request, withheld);
        return searchTree(start.absolute, this.#builtIn(request), { ...tree, signal, found });
      },
    });
    await found.settle((file) => this.#workspace.mayRead(join(start.absolute, file)));
    const findings = found.findings();
    const confirm = request.mode === "content" ? confirmLines : confirmPlaces;
    const inPlace = engine === "ripgrep" ? await confirm(start.absolute, findings.files, signal) : findings.files;
    const readable = await Promise.all(inPlace.map((file) => this.#workspace.mayRead(join(start.absolute, file.path))));
    const files = inPlace.filter((_, index) => readable[index]);
    return { ...findings, files, start, kind: "folder", isBinary: false };
  }

  async #searchOne(start: ResolvedPath, request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
    const result = await this.#workspace.withFile(start.absolute, async (handle) => {
      // Ripgrep reads a single binary file to its end, and that may be a disk image.
      if (await beginsBinary(handle)) return undefined;
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
        const isSilent = error instanceof RipgrepSilent;
        if (!isSilent && !(error instanceof RipgrepUnusable)) throw error;
        if (!isSilent) this.#ripgrep = Promise.resolve(undefined);
      } finally {
        await held.close();
      }
    }
    await engines.builtIn();
    return "built-in";
  }

  #program(): Promise<string | undefined> {
    const { ripgrep, limitMs: _, silentMs: __, ...where } = this.#options;
    if (ripgrep === false) return Promise.resolve(undefined);
    this.#ripgrep ??=
      ripgrep === undefined ? findRipgrep({ avoid: this.#workspace.roots, ...where }) : Promise.resolve(ripgrep);
    return this.#ripgrep;
  }
}

/** Skips files that hold secrets, unless the folder itself is such: then the user agreed to the search. */
function withholding(start: string): (path: string) => boolean {
  if (sensitiveReason(start) !== undefined) return () => false;
  return (path) => sensitiveReason(start === "." ? path : `${start}/${path}`) !== undefined;
}

async function beginsBinary(handle: FileHandle): Promise<boolean> {
  const head = Buffer.alloc(SNIFF_BYTES);
  const { bytesRead } = await handle.read(head, 0, SNIFF_BYTES, 0);
  return looksBinary(head.subarray(0, bytesRead));
}
