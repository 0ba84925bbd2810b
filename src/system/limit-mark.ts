/**
 * Marks a command and everything that it starts by a resource limit, on Linux.
 *
 * 1. The hard limit of file locks (RLIMIT_LOCKS) passes to every descendant, also to one with an empty environment, in a new session and
 *    without a parent. The kernel has ignored its value since 2.4.25, so it changes nothing for a program. Only root can raise it.
 * 2. Each command gets its own number. Of a command within a marked command, the number begins with the outer one's, so it belongs
 *    to both.
 *
 * A program that lowers this limit itself leaves the tree.
 */
import { accessSync, closeSync, constants, openSync, readFileSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { SYSTEM_PATH } from "../base/system-path.js";
import { findOwnProgram, findProjectProgram } from "./find-program.js";

export interface LimitMark {
  /** The limit to set. */
  readonly limit: string;
  /** The limits of all its processes, as a regular expression of `grep -E`. */
  readonly pattern: string;
}

export interface MarkedCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

const LIMITS_LINE = (limit: string) => `^Max file locks +[^ ]+ +(${limit}) `;
const PREFIX_DIGITS = 12;
const SUFFIX_DIGITS = 6;
const MOST = 10 ** SUFFIX_DIGITS - 1;
/** The option of bash, and the one of dash and busybox. */
const SET_LIMIT = '{ ulimit -x "$0" || ulimit -w "$0"; } 2>/dev/null; exec "$@"';

let counter = Math.floor(Math.random() * MOST);
let inherited: string | undefined;
let setter: LimitSetter | undefined;

/** Undefined if the system has no such limit, or if this process is marked too deeply itself. */
export function nextLimitMark(): LimitMark | undefined {
  if (process.platform !== "linux") return undefined;
  inherited ??= hardLimit() ?? "";
  return markWithin(inherited, ++counter);
}

/** `outer`: the hard limit of this process. */
export function markWithin(outer: string, count: number): LimitMark | undefined {
  if (outer === "unlimited") {
    const prefix = String(Math.floor((0.1 + Math.random() * 0.9) * 10 ** PREFIX_DIGITS));
    return { limit: `${prefix}${MOST}`, pattern: `${prefix}[0-9]{${SUFFIX_DIGITS}}` };
  }
  const own = new RegExp(`^(\\d{${PREFIX_DIGITS}})${MOST}$`).exec(outer)?.[1];
  if (own === undefined) return undefined;
  const limit = `${own}${String(count % MOST).padStart(SUFFIX_DIGITS, "0")}`;
  return { limit, pattern: limit };
}

/** The command with the limit. A command that cannot be started stays as it is, so that the error names it. */
export function withLimitMark(command: MarkedCommand, { limit }: LimitMark): readonly string[] {
  if (!canStart(command)) return command.argv;
  setter ??= limitSetter((name) => findOwnProgram(name, undefined));
  return [...setter(limit), ...command.argv];
}

type LimitSetter = (limit: string) => readonly string[];

/** Tells what to put before a command. */
export function limitSetter(find: (name: string) => string | undefined): LimitSetter {
  const prlimit = find("prlimit");
  // It leaves the environment as it is; a shell drops variables with unusual names.
  if (prlimit !== undefined) return (limit) => [prlimit, `--locks=${limit}:${limit}`, "--"];
  const shell = find("sh");
  return shell === undefined ? () => [] : (limit) => [shell, "-c", SET_LIMIT, limit];
}

export function hasLimitMark(pid: number, { pattern }: LimitMark): boolean {
  return new RegExp(LIMITS_LINE(pattern), "m").test(limitsOf(pid));
}

/** For `grep -E` in the files `/proc/PID/limits`. */
export function limitsPattern(patterns: Iterable<string>): string {
  return LIMITS_LINE([...patterns].join("|"));
}

function hardLimit(): string | undefined {
  return /^Max file locks +\S+ +(\S+)/m.exec(limitsOf("self"))?.[1];
}

function limitsOf(pid: number | "self"): string {
  try {
    return readFileSync(`/proc/${pid}/limits`, "latin1");
  } catch {
    return "";
  }
}

/** Tells whether the program and the interpreter that its first line names exist. */
function canStart({ argv: [program = ""], cwd, env }: MarkedCommand): boolean {
  const file = program.includes("/") ? resolve(cwd, program) : findProjectProgram(program, env.PATH ?? SYSTEM_PATH);
  if (file === undefined || !mayRun(file)) return false;
  const interpreter = interpreterOf(file);
  return interpreter === undefined || mayRun(interpreter);
}

function mayRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function interpreterOf(file: string): string | undefined {
  try {
    const descriptor = openSync(file, "r");
    try {
      const start = Buffer.alloc(256);
      const text = start.toString("latin1", 0, readSync(descriptor, start));
      return /^#![ \t]*(\S+)/.exec(text)?.[1];
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // A program that may be run, but not read.
    return undefined;
  }
}
