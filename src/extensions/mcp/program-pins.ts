/**
 * The hashes of the files that a server is started from.
 *
 * 1. They are the program, with all links resolved, the scripts among its arguments, every other file of the project that an argument names,
 *    the start of a folder that an argument names (`node .`), and what can make the program load other code: the file with its variables,
 *    and the settings of a runner such as npx. What these load is not covered, so such a server has no network (runners.ts).
 * 2. A server of a project starts only if all of them are as they were when a person approved it. The user's own servers start
 *    without, unless their entry has a `sha256`.
 */
import { createHash } from "node:crypto";
import { createReadStream, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { failure } from "../../protocol/errors.js";
import { findProjectProgram } from "../../system/find-program.js";
import { isWithin } from "../../system/within.js";
import { codeWords, runnerSettings, SCRIPT, wordsIn } from "./runners.js";
import type { ServerConfig, StdioTransport } from "./server-config.js";

export type Pins = Readonly<Record<string, string>>;

export interface PinPlace {
  /** The folder that the server starts in. */
  readonly root: string;
  /** The folder that paths in pins are below. */
  readonly base: string;
  readonly path: string | undefined;
}

/** A server with more of them does not start, because what is not pinned could change. */
const MOST_FILES = 64;

/** Undefined if the program is not there. */
export function findCommand({ command, env, cwd }: StdioTransport, { root, path }: PinPlace): string | undefined {
  const isPath = command.includes("/") || command.includes("\\");
  const found = isPath ? resolve(cwd ?? root, command) : findProjectProgram(command, env.PATH ?? path);
  return found === undefined ? undefined : realPath(found);
}

/** The program first. */
export function startedFiles(transport: StdioTransport, place: PinPlace): readonly string[] {
  const command = findCommand(transport, place);
  if (command === undefined) return [];
  const from = transport.cwd ?? place.root;
  const scripts = transport.args.flatMap((written) => {
    // `--import=./setup.mjs`
    const arg = written.startsWith("-") ? written.slice(written.indexOf("=") + 1) : written;
    if (arg.startsWith("-") || arg === "") return [];
    const file = realPath(isAbsolute(arg) ? arg : join(from, arg));
    const stat = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
    const isProgram = stat?.isFile() === true && (SCRIPT.test(arg) || (stat.mode & 0o111) !== 0);
    return file !== undefined && isProgram ? [file] : [];
  });
  return [...new Set([command, ...scripts])];
}

/** Lists where an interpreter begins in a folder. */
const STARTS = ["package.json", "index.js", "index.mjs", "index.cjs", "__main__.py", "deno.json"];
/** Servers write them. Where an interpreter runs one as its script, it counts as code. */
const DATA = /\.(?:db|sqlite|sqlite3|db-wal|db-shm|log|jsonl|ndjson)$/i;

/** The files of the project that arguments and variables name, directly or as the start of a folder. */
function namedFiles(transport: StdioTransport, { root, base }: PinPlace): readonly string[] {
  const words = [...transport.args, ...Object.values(transport.env)].flatMap(wordsIn);
  const code = new Set(codeWords(transport));
  return words.flatMap((word) => {
    const named = realPath(resolve(transport.cwd ?? root, word));
    if (named === undefined || !isWithin(named, base)) return [];
    const isFolder = statSync(named, { throwIfNoEntry: false })?.isDirectory() === true;
    if (isFolder) return STARTS.flatMap((name) => realPath(join(named, name)) ?? []);
    return DATA.test(named) && !code.has(word) ? [] : [named];
  });
}

/** None if the program is not there. */
function pinnedFiles(transport: StdioTransport, place: PinPlace): readonly string[] {
  const files = startedFiles(transport, place);
  if (files.length === 0) return [];
  const settings = runnerSettings(transport, { root: place.root, top: place.base });
  const variables = transport.envFile === undefined ? [] : [transport.envFile];
  return [...new Set([...files, ...namedFiles(transport, place), ...variables, ...settings])];
}

export async function findPins(transport: StdioTransport, place: PinPlace): Promise<Pins> {
  const pins: Record<string, string> = {};
  for (const file of pinnedFiles(transport, place).slice(0, MOST_FILES)) {
    const hash = await hashOf(file);
    if (hash !== undefined) pins[nameOf(file, place)] = hash;
  }
  return pins;
}

/** Tells why the server must not start; undefined if it may. */
export async function pinProblem(
  config: ServerConfig,
  place: PinPlace & { readonly pins: Pins | undefined },
): Promise<string | undefined> {
  const { transport, name, scope, path: file } = config;
  if (transport.kind !== "stdio") return undefined;
  if (config.sha256 === undefined && scope !== "project") return undefined;
  const found = await findPins(transport, place);
  const files = Object.keys(found);
  if (files.length === 0) return `MCP server '${name}' did not start: ${transport.command} was not found.`;
  const changed = (path: string, expected: string) =>
    failure("MCPServerSHA256Mismatch", { name, path, expected, actual: found[path] ?? "none", profile_path: file })
      .message;
  if (config.sha256 !== undefined && !Object.values(found).includes(config.sha256)) {
    // The hash is that of one of them: the entry does not say of which.
    const about = { name, expected: config.sha256, profile_path: file };
    const [path, actual] = [files.join(" or "), Object.values(found).join(" and ")];
    return failure("MCPServerSHA256Mismatch", { ...about, path, actual }).message;
  }
  if (scope !== "project") return undefined;
  if (pinnedFiles(transport, place).length > MOST_FILES)
    return `MCP server '${name}' did not start: its arguments and variables name more than ${MOST_FILES} files of the project.`;
  if (place.pins === undefined)
    return `MCP server '${name}' did not start: the project names it, and no hash of its program was recorded when it was approved. Approve it again: oxbow mcp approve ${name}`;
  for (const path of files) {
    const expected = place.pins[path];
    // A lock for other machines has hashes of the project's own files only.
    if (expected === undefined && isAbsolute(path) && !hasOutside(place.pins)) continue;
    if (expected !== found[path]) return changed(path, expected ?? "none");
  }
  return undefined;
}

function hasOutside(pins: Pins): boolean {
  return Object.keys(pins).some((path) => isAbsolute(path));
}

function nameOf(file: string, { base }: PinPlace): string {
  return isWithin(file, base) ? relative(base, file) : file;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Interpreters are large: a file that has not changed is read once. */
const hashes = new Map<string, { readonly stamp: string; readonly hash: string }>();

async function hashOf(file: string): Promise<string | undefined> {
  try {
    const found = statSync(file, { bigint: true });
    // A named pipe would block.
    if (!found.isFile()) return undefined;
    const stamp = [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(" ");
    const known = hashes.get(file);
    if (known?.stamp === stamp) return known.hash;
    const hash = await readHash(file);
    if (hash !== undefined) hashes.set(file, { stamp, hash });
    return hash;
  } catch {
    return undefined;
  }
}

async function readHash(file: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
    return hash.digest("hex");
  } catch {
    return undefined;
  }
}
