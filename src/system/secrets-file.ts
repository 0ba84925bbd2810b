/**
 * `.oxbow-secrets/env`: keys of providers in a file of the user, in the working folder or above it up to the top of the repository.
 *
 * 1. It holds keys alone. An address or a setting in it has no effect: a file that came with a project must not send anything elsewhere.
 * 2. Oxbow does not read a file that git tracks, that is a link, or that another user can read.
 * 3. A variable of the environment overrides it.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Variables } from "../base/variables.js";
import { type GitFolder, gitFolderAround } from "./git/git-folder.js";
import { readIndexPaths } from "./git/index-file.js";
import { smallText } from "./git/plain-file.js";

export const SECRETS_FOLDER = ".oxbow-secrets";

export interface SecretsFile {
  readonly path: string;
  /** The keys in it, by their names. */
  readonly keys: Readonly<Record<string, string>>;
  /** The reason why Oxbow does not read it, and what helps. */
  readonly refused?: string;
  /** Holds what the user should change. */
  readonly warnings: readonly string[];
}

const LARGEST = 64 * 1024;
/** Names of keys. Oxbow's own variables are not among them. */
const KEY_NAME = /^(?!OXBOW_)[A-Z][A-Z0-9_]*_(?:API_KEY|KEY|TOKEN)$/;

/** Undefined if there is none. Without a repository only the working folder counts. */
export function findSecretsFile(folder: string): SecretsFile | undefined {
  const repository = gitFolderAround(folder);
  const last = repository?.top ?? folder;
  for (let current = folder; ; current = dirname(current)) {
    const path = join(current, SECRETS_FOLDER, "env");
    if (isThere(path)) return readSecrets(path, repository);
    if (current === last || current === dirname(current)) return undefined;
  }
}

/** The variables with the keys of the file. */
export function withSecrets(variables: Variables, { keys }: Pick<SecretsFile, "keys">): Variables {
  const given = Object.fromEntries(
    Object.entries(variables).filter(([, value]) => value !== undefined && value !== ""),
  );
  return { ...variables, ...keys, ...given };
}

function readSecrets(path: string, repository: GitFolder | undefined): SecretsFile {
  const refuse = (refused: string): SecretsFile => ({ path, keys: {}, refused, warnings: [] });
  const tracked = repository && isTracked(path, repository);
  if (tracked === "unknown") return refuse("Oxbow cannot read git's index, so it does not know whether git tracks it");
  if (tracked)
    return refuse(`git tracks it. Run 'git rm --cached ${path}', and replace its keys: they are in the history`);
  const text = privateText(path);
  if ("refused" in text) return refuse(text.refused);
  const { keys, ignored } = parseKeys(text.text);
  const warnings = [
    ...(ignored.length > 0 ? [`It holds keys alone; ignored: ${ignored.join(", ")}`] : []),
    ...(repository !== undefined && !isIgnored(path, repository)
      ? [`git can commit it. Run: echo '*' > ${join(dirname(path), ".gitignore")}`]
      : []),
  ];
  return { path, keys, warnings };
}

function isTracked(path: string, { top, configs }: GitFolder): boolean | "unknown" {
  const [config] = configs;
  const index = join(dirname(config ?? join(top, ".git", "config")), "index");
  if (!isThere(index)) return false;
  const paths = readIndexPaths(index);
  return paths === undefined ? "unknown" : paths.has(relative(top, path).replaceAll("\\", "/"));
}

/** The two usual ways: a `.gitignore` in the folder, or a line at the top of the repository. */
function isIgnored(path: string, { top }: GitFolder): boolean {
  const own = smallText(join(dirname(path), ".gitignore")).split("\n");
  if (own.some((line) => ["*", "env", "/env"].includes(line.trim()))) return true;
  const lines = smallText(join(top, ".gitignore")).split("\n");
  return lines.some((line) => /^\/?(\*\*\/)?\.oxbow-secrets(\/(env|\*+)?)?$/.test(line.trim()));
}

function privateText(path: string): { readonly text: string } | { readonly refused: string } {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const isLink = (error as NodeJS.ErrnoException).code === "ELOOP";
    return { refused: isLink ? "it is a link" : `it cannot be opened: ${(error as Error).message}` };
  }
  try {
    const stat = fstatSync(fd);
    const { uid, mode, size } = stat;
    if (!stat.isFile()) return { refused: "it is not a file" };
    const own = process.getuid?.();
    if (own !== undefined && uid !== own) return { refused: "it belongs to another user" };
    if (own !== undefined && (mode & 0o077) !== 0)
      return { refused: `other users can read it. Run: chmod 600 '${path}'` };
    if (size > LARGEST) return { refused: "it is too long for a list of keys" };
    return { text: readFileSync(fd, "utf8") };
  } finally {
    closeSync(fd);
  }
}

/** `NAME=value` or `export NAME="value"`, a line each. */
function parseKeys(text: string): { readonly keys: Record<string, string>; readonly ignored: readonly string[] } {
  const keys: Record<string, string> = {};
  const ignored: string[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, name = "", value = ""] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    const plain = value.replace(/^(["'])(.*)\1$/, "$2");
    if (KEY_NAME.test(name) && plain !== "") keys[name] = plain;
    else ignored.push(name === "" ? `line ${index + 1}` : name);
  }
  return { keys, ignored };
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
