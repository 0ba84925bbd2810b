/**
 * Resolves a path to a place inside the workspace.
 *
 * 1. A path is resolved as the kernel would do it: links are followed before `..` is applied. Only a path that does not exist is read
 *    again as a model may mean it: `~` is the home folder, `\` is `/`.
 * 2. The result has no symbolic links and lies in one of the roots, or there is no result.
 * 3. A refusal does not reveal whether something outside exists.
 * 4. Where commands have a `/tmp` of their own, `/tmp` means that folder, except for a root below the real one.
 */
import { lstat, opendir, readlink, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { shorten } from "../../base/cap-text.js";
import { forwardSlashes, isInside, isKernelPath, pathTextFault } from "./containment.js";
import { NO_GUARD, type PathGuard } from "./path-guard.js";
import { printable } from "./printable.js";
import { protection } from "./protected-paths.js";
import { sameSpelling, similarNames } from "./similar-names.js";
import { errnoOf, fromSystem, WorkspaceError } from "./workspace-error.js";

export type Access = "read" | "write";

export interface ResolvedPath {
  /** Free of symbolic links. */
  readonly absolute: string;
  /** For people and models: relative to the root with forward slashes; absolute in an extra root. */
  readonly display: string;
  readonly exists: boolean;
  /** The reason why the user should agree first (a key file), if there is a reason. */
  readonly sensitive?: string;
  /** The reason why a change needs the user's approval; absent for `read`. */
  readonly guarded?: string;
}

interface Location {
  readonly absolute: string;
  readonly exists: boolean;
}

/** Sets how many entries of a folder to check when a name is not found. */
const MAX_NAMES = 5000;

const TEMPORARY = "/tmp";

export class PathResolver {
  /** The workspace first. */
  roots: readonly [string, ...string[]];
  readonly #guard: PathGuard;
  readonly #temporary: string | undefined;

  /** `temporary`: the folder that commands see as `/tmp`, which is one of the roots. */
  constructor(roots: readonly [string, ...string[]], guard: PathGuard = NO_GUARD, temporary?: string) {
    this.roots = roots;
    this.#guard = guard;
    this.#temporary = temporary;
  }

  get root(): string {
    return this.roots[0];
  }

  /** A further folder, free of links. */
  add(root: string): void {
    if (!this.roots.includes(root)) this.roots = [...this.roots, root];
  }

  /** For `read` the path must exist; for `write` it may not exist yet. */
  async resolve(path: string, access: Access): Promise<ResolvedPath> {
    const { absolute, exists } = await this.#locate(path);
    if (!exists && access === "read") throw await this.#notFound(absolute);
    return this.#resolved(absolute, exists, access);
  }

  /** The entry itself, even if it is a link. A link that leads outside is refused. */
  async resolveEntry(path: string): Promise<ResolvedPath> {
    const fault = pathTextFault(path);
    if (fault !== undefined) throw invalid(path, fault);
    const name = basename(path);
    if (name === ".." || name === "." || name === "") return this.resolve(path, "write");
    const parent = await this.resolve(dirname(path), "read");
    const absolute = join(parent.absolute, name);
    const found = await lstat(absolute).catch(() => undefined);
    if (found?.isSymbolicLink() !== true) return this.resolve(path, "write");
    await this.#refuseLinkOut(absolute);
    return this.#resolved(absolute, true, "write");
  }

  display(absolute: string): string {
    const temporary = this.#temporary;
    if (temporary !== undefined && isInside(absolute, [temporary]))
      return forwardSlashes(join(TEMPORARY, relative(temporary, absolute)));
    if (!isInside(absolute, [this.root])) return forwardSlashes(absolute);
    return forwardSlashes(relative(this.root, absolute)) || ".";
  }

  async #resolved(absolute: string, exists: boolean, access: Access): Promise<ResolvedPath> {
    const root = this.roots.find((each) => isInside(absolute, [each])) ?? this.root;
    const sensitive = protection(forwardSlashes(relative(root, absolute)), access);
    const guarded = access === "write" ? await this.#guard.reason(absolute) : undefined;
    const found = { absolute, display: this.display(absolute), exists };
    return { ...found, ...(sensitive !== undefined && { sensitive }), ...(guarded !== undefined && { guarded }) };
  }

  async #locate(path: string): Promise<Location> {
    const fault = pathTextFault(path);
    if (fault !== undefined) throw invalid(path, fault);
    // Not path.join: it would apply `..` before links are followed.
    const full = isAbsolute(path) ? this.#withTemporary(path) : `${this.root}${sep}${path}`;
    try {
      return { absolute: this.#admit(await realpath(full), path), exists: true };
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return this.#locateMissing(full, path);
      if (error instanceof WorkspaceError) throw error;
      // A path that is clearly outside gets that message first.
      this.#admit(lexical(full), path);
      throw fromSystem(error, printable(path));
    }
  }

  async #locateMissing(full: string, path: string): Promise<Location> {
    const meant = meantPath(path);
    if (meant !== undefined) return this.#locate(meant);
    const parts = full.split(sep).filter((part) => part !== "" && part !== ".");
    const { base, depth } = await deepestExisting(full, parts);
    const rest = parts.slice(depth);
    if (!this.#contains(base)) throw await this.#refusal(path);
    const [first, ...others] = rest;
    if (first === undefined || rest.includes("..")) throw await this.#notFound(join(base, first ?? ""));
    const entry = await lstat(join(base, first)).catch(() => undefined);
    if (entry?.isSymbolicLink() === true) throw await this.#danglingLink(join(base, first));
    const spelled = await sameSpelling(first, namesIn(base));
    if (spelled !== undefined) return this.#locate(join(base, spelled, ...others));
    return { absolute: this.#admit(join(base, ...rest), path), exists: false };
  }

  /** Only the name of the folder is replaced: what follows is resolved below it. */
  #withTemporary(path: string): string {
    const temporary = this.#temporary;
    if (temporary === undefined || !isInside(lexical(path), [TEMPORARY]) || isInside(lexical(path), this.roots))
      return path;
    const [, rest] = /^\/+tmp(\/.*|)$/s.exec(path) ?? [];
    return rest === undefined ? path : `${temporary}${rest}`;
  }

  #contains(real: string): boolean {
    return isInside(real, this.roots) && !isKernelPath(real, this.roots);
  }

  #admit(real: string, path: string): string {
    if (this.#contains(real)) return real;
    throw this.#outside(path);
  }

  #outside(path: string): WorkspaceError {
    return new WorkspaceError(
      "outside",
      `${printable(path)} is outside the workspace ${this.root}. Only files inside it can be used; give a path relative to it.`,
    );
  }

  async #refusal(path: string): Promise<WorkspaceError> {
    const gone = await lstat(this.root).then(
      () => false,
      () => true,
    );
    return gone
      ? new WorkspaceError("missing", `The workspace folder ${this.root} no longer exists.`)
      : this.#outside(path);
  }

  async #danglingLink(absolute: string): Promise<WorkspaceError> {
    const shown = printable(this.display(absolute));
    const target = printable(await readlink(absolute).catch(() => "?"));
    return new WorkspaceError("missing", `${shown} is a symbolic link to a place that does not exist:`, {
      quoted: target,
    });
  }

  async #refuseLinkOut(absolute: string): Promise<void> {
    const target = await readlink(absolute);
    const full = isAbsolute(target) ? target : `${dirname(absolute)}${sep}${target}`;
    await this.#locate(full).catch((error: unknown) => {
      if (error instanceof WorkspaceError && error.code === "outside") {
        throw new WorkspaceError(
          "outside",
          `${printable(this.display(absolute))} is a symbolic link that leads outside the workspace.`,
        );
      }
    });
  }

  /** Names the missing part of the path and what exists instead. */
  async #notFound(absolute: string): Promise<WorkspaceError> {
    let folder = dirname(absolute);
    let name = basename(absolute);
    while (folder !== dirname(folder) && !(await isFolder(folder))) {
      name = basename(folder);
      folder = dirname(folder);
    }
    const near = await similarNames(name, namesIn(folder));
    const shown = printable(this.display(join(folder, name)));
    const at = (each: string) => printable(this.display(join(folder, each)));
    const quoted = near.length > 0 ? near.map(at).join("\n") : undefined;
    const advice = quoted === undefined ? "Use ls or glob to list files." : "Did you mean one of these?";
    return new WorkspaceError("missing", `${shown} does not exist. ${advice}`, { quoted });
  }
}

/** Tells what a path means that does not exist as it is written: `~` as in a shell, and the separator of Windows. */
function meantPath(path: string): string | undefined {
  if (/^~(?=\/|$)/.test(path)) return `${homedir()}${path.slice(1)}`;
  return sep === "/" && path.includes("\\") ? path.replaceAll("\\", "/") : undefined;
}

function invalid(path: string, fault: string): WorkspaceError {
  return new WorkspaceError("invalid", `${printable(shorten(path, 200))} cannot be used as a path: ${fault}.`);
}

/** `.` and `..` applied as text. */
function lexical(path: string): string {
  return join(path);
}

/** The real path of the longest existing prefix, and how many parts it covers. */
async function deepestExisting(full: string, parts: readonly string[]): Promise<{ base: string; depth: number }> {
  const lead = full.startsWith(sep) ? sep : "";
  for (let depth = parts.length - 1; depth > 0; depth--) {
    try {
      return { base: await realpath(lead + parts.slice(0, depth).join(sep)), depth };
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw fromSystem(error, printable(full));
    }
  }
  return { base: lead === "" ? `${parts[0]}${sep}` : lead, depth: lead === "" ? 1 : 0 };
}

async function* namesIn(folder: string): AsyncGenerator<string> {
  const directory = await opendir(folder).catch(() => undefined);
  if (directory === undefined) return;
  let count = 0;
  for await (const entry of directory) {
    yield entry.name;
    if (++count >= MAX_NAMES) return;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
