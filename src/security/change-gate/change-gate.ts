/**
 * Decides which changes of a command reach the workspace. The command has ended and its changes are held back, so nothing races with the
 * decision.
 *
 * 1. Every change is judged by its path and by what is really there. What needs a person is a question about this change; what
 *    path permissions forbid is refused. A link is judged by the place that it leads to once all changes are applied.
 * 2. A path with a component `.git` in any form needs a person. Where a person allowed git (`isOnlyGit`), its own records pass by their
 *    path: objects, references, the index, logs, and the state of a merge or a rebase without commands in it. The configuration, hooks,
 *    `info` and `modules` never do.
 * 3. In folders of packages (`node_modules`, `.venv`), only repositories and links count: packages ship files with guarded names.
 * 4. Without an answer, creations and changes that pass are applied and nothing is deleted or renamed: a file that was moved to a place that
 *    is held back is not lost.
 */
import { dirname, posix, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { plainName } from "../../base/plain-name.js";
import { type HeldChange, type HeldEntry, isWholeGone, look } from "../../system/overlay/change-set.js";
import { linkTarget } from "../../system/path-bytes.js";
import { foldersOnWay, isWithin } from "../../system/within.js";
import { parseShell } from "../shell/grammar.js";
import { simpleCommands } from "../shell/walk.js";
import { programName } from "../shell/wrappers.js";

export interface GateOptions {
  /** The real folder, free of links. */
  readonly root: string;
  readonly changes: readonly HeldChange[];
  /** Tells why a change of this path needs the user; undefined for an ordinary one. Absolute, without links. */
  reason(path: string): string | undefined;
  /** Tells whether the view hid this name. From the root. */
  isHidden(path: string): boolean;
  /** Guarded paths that the user allowed for this call: absolute. */
  readonly granted: readonly string[];
  /** Says whether git's own records pass. */
  readonly records: "pass" | "guarded";
  /** Tells why the path permissions refuse it; undefined if they do not. Absolute. */
  refusal(path: string, access: "write" | "delete"): string | undefined;
  /** Tells why these deletions need the user. From the root. */
  deletions(changes: readonly HeldChange[]): string | undefined;
  /** Tells whether a link may lead to this absolute place outside the root. */
  mayLead(target: string): boolean;
  /** The text of a file that the command wrote, if it is small. From the root. */
  text(path: string): string | undefined;
}

export interface HeldBack {
  readonly change: HeldChange;
  readonly reason: string;
}

export interface GateVerdict {
  readonly passing: readonly HeldChange[];
  /** A person may let these pass. */
  readonly asking: readonly HeldBack[];
  readonly refused: readonly HeldBack[];
}

const PACKAGE_FOLDERS: ReadonlySet<string> = new Set(["node_modules", ".venv", "__pycache__"]);
const BREATHE_EVERY = 500;

export async function judgeChanges(options: GateOptions): Promise<GateVerdict> {
  const passing: HeldChange[] = [];
  const asking: HeldBack[] = [];
  const refused: HeldBack[] = [];
  const linkAt = linksAfter(options);
  const isDeletion = (change: HeldChange) => change.after === undefined || isWholeGone(change);
  const deletion = options.deletions(options.changes.filter(isDeletion));
  for (const [at, change] of options.changes.entries()) {
    if (at % BREATHE_EVERY === BREATHE_EVERY - 1) await setImmediate();
    const absolute = posix.join(options.root, change.path);
    const refusal = options.refusal(absolute, change.after === undefined ? "delete" : "write");
    if (refusal !== undefined) {
      refused.push({ change, reason: refusal });
      continue;
    }
    const isGranted = options.granted.some((place) => isWithin(absolute, place));
    const reason =
      (isGranted ? undefined : reasonOf(change, absolute, options)) ??
      linkReason(absolute, change.after, options, linkAt) ??
      (isDeletion(change) ? deletion : undefined);
    if (reason === undefined) passing.push(change);
    else asking.push({ change, reason });
  }
  return { passing, asking, refused };
}

/**
 * Returns what is applied although `missing` is not: nothing is deleted or renamed then, nothing is put where a folder is missing, and no repository
 * changes, because a part of what git wrote makes no sense. A folder comes before what is in it. A folder of packages changes as a whole or not
 * at all: old and new packages do not work together, and what goes can be installed again.
 */
export function withoutMissing(
  passing: readonly HeldChange[],
  missing: readonly { readonly path: string }[],
): readonly HeldChange[] {
  if (missing.length === 0) return passing;
  const absent = new Set(missing.map(({ path }) => path));
  const broken = new Set(missing.flatMap(({ path }) => packageFolder(path) ?? []));
  const halved = new Set(passing.filter((change) => !isCreation(change)).map(({ path }) => packageFolder(path)));
  return passing.filter((change) => {
    const { after, path } = change;
    const packages = packageFolder(path);
    const isWhole = packages !== undefined && !broken.has(packages) && !(after === undefined && path === packages);
    const isHalf = packages !== undefined && broken.has(packages) && halved.has(packages);
    const isPassing = (isWhole || isCreation(change)) && !isHalf && !isGitPath(path);
    const isApplied = isPassing && ![path, ...foldersOnWay(path)].some((each) => absent.has(each));
    if (!isApplied) absent.add(path);
    return isApplied;
  });
}

/** Tells whether nothing goes with it. */
function isCreation(change: HeldChange): boolean {
  const { before, after, from } = change;
  const isSameKind = before === undefined || before.kind === after?.kind;
  return after !== undefined && from === undefined && isSameKind && !isWholeGone(change);
}

/** Finds the outermost folder of packages that the path is or lies in. */
function packageFolder(path: string): string | undefined {
  const names = path.split("/");
  const at = names.findIndex((name) => PACKAGE_FOLDERS.has(name));
  return at === -1 ? undefined : names.slice(0, at + 1).join("/");
}

function isGitPath(path: string): boolean {
  return path.split("/").some((name) => plainName(name) === ".git");
}

/** Tells whether a command line runs nothing but git, so that who allowed it allowed what git records. */
export function isOnlyGit(line: string): boolean {
  const parsed = parseShell(line);
  if (!parsed.ok) return false;
  const names = simpleCommands(parsed.script)
    .filter(({ command }) => command.words.length > 0)
    .map(({ command }) => programName(command.words));
  return names.includes("git") && names.every((name) => name !== undefined && BESIDE_GIT.has(name));
}

const BESIDE_GIT: ReadonlySet<string> = new Set("git cd echo printf true test [ cat head tail grep wc".split(" "));

function reasonOf(change: HeldChange, absolute: string, options: GateOptions): string | undefined {
  const { path } = change;
  const names = path.split("/");
  const gitAt = names.findIndex((name) => plainName(name) === ".git");
  if (gitAt !== -1) return gitReason(change, { names, gitAt, options });
  if (options.isHidden(path)) return SECRET;
  const isInPackage = names.slice(0, -1).some((name) => PACKAGE_FOLDERS.has(name));
  return isInPackage && plainName(names.at(-1) ?? "") !== "head" ? undefined : options.reason(absolute);
}

type LinkAt = (path: string) => string | undefined;

function linkReason(
  absolute: string,
  after: HeldEntry | undefined,
  { root, mayLead, isHidden, reason }: GateOptions,
  linkAt: LinkAt,
): string | undefined {
  if (after?.kind !== "link") return undefined;
  const place = leadsTo(absolute, after.target ?? "", linkAt);
  if (place === undefined || place === root) return undefined;
  if (!isWithin(place, root))
    return mayLead(place) ? undefined : `it is a link that leads out of the workspace, to ${place}`;
  const inner = relative(root, place);
  const why = isGitPath(inner) ? GIT : isHidden(inner) ? SECRET : reason(place);
  return why && `it is a link to a guarded place: ${why}`;
}

/** The links as they are when all changes are applied. */
function linksAfter({ root, changes }: GateOptions): LinkAt {
  let changed: ReadonlyMap<string, HeldEntry | undefined> | undefined;
  return (path) => {
    changed ??= new Map(changes.map(({ path, after }) => [posix.join(root, path), after]));
    if (changed.has(path)) return changed.get(path)?.target;
    return look(path)?.isSymbolicLink() ? linkTarget(path) : undefined;
  };
}

const MOST_LINKS = 40;

/** Follows a link as the kernel does. Undefined for a loop. */
function leadsTo(link: string, target: string, linkAt: LinkAt): string | undefined {
  const names = target.split("/");
  let place = target.startsWith("/") ? "/" : dirname(link);
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const next = posix.join(place, name);
    // What is there depends on the process that looks.
    if (isWithin(next, "/proc")) return next;
    const inner = name === "" || name === "." || name === ".." ? undefined : linkAt(next);
    if (inner === undefined) place = next;
    else if (++links > MOST_LINKS) return undefined;
    else {
      names.unshift(...inner.split("/"));
      if (inner.startsWith("/")) place = "/";
    }
  }
  return place;
}

const SECRET = "it is a secret file that commands do not see";
const GIT = "git runs or obeys what is in this folder";
/** Below a git folder: what git writes when it works, and no program runs. Not what names other places: `objects/info/alternates`. */
const RECORDS = new RegExp(
  `^(${[
    "objects(/[0-9a-f]{2}(/[^/]+)?|/pack(/[^/]+)?|/info(/packs|/commit-graph.*)?)?",
    "(refs|logs|rr-cache|sequencer|rebase-merge|rebase-apply)(/.*)?",
    "index|HEAD|packed-refs|[A-Z]+_HEAD|COMMIT_EDITMSG|MERGE_MSG|MERGE_MODE|MERGE_RR|SQUASH_MSG|AUTO_MERGE|shallow|gc\\.log",
  ].join("|")})$`,
);
/** A rebase runs the program `git-merge-NAME` for another name. */
const STRATEGIES = /^\s*(ort|recursive|resolve|octopus|ours|subtree)?\s*$/;
/** The steps of a rebase. */
const STEPS = /^(rebase-merge|rebase-apply|sequencer)\/(git-rebase-todo|todo|done)(\.backup)?$/;
const RUNS = /^\s*(x|exec|b|break)\b/m;

function gitReason(
  { path, after }: HeldChange,
  {
    names,
    gitAt,
    options,
  }: { readonly names: readonly string[]; readonly gitAt: number; readonly options: GateOptions },
): string | undefined {
  if (options.records !== "pass" || names[gitAt] !== ".git" || after?.kind === "link") return GIT;
  const inner = names.slice(gitAt + 1).join("/");
  if (!RECORDS.test(inner) || names.slice(gitAt + 1).some((name) => plainName(name) === ".git")) return GIT;
  if (after?.kind !== "file") return undefined;
  if (inner === "rebase-merge/strategy" && !STRATEGIES.test(options.text(path) ?? "?")) return GIT;
  if (inner === "sequencer/opts" && (options.text(path) ?? "strategy").includes("strategy")) return GIT;
  if (!STEPS.test(inner)) return undefined;
  const text = options.text(path);
  return text === undefined || RUNS.test(text) ? "a rebase runs the commands in it" : undefined;
}
