/**
 * The machine's processes as the operating system lists them: /proc on Linux, `ps` elsewhere.
 *
 * 1. Each row is a process, never a thread, a kernel thread or a zombie: a zombie runs nothing and holds nothing.
 * 2. Start times give the age. Process ids do not: they wrap around, on a small or busy machine within minutes. They serve as a
 *    shortcut only while they cannot have wrapped around.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { SYSTEM_PATH } from "../base/system-path.js";

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** 0 if the system does not report it. */
  readonly session: number;
  /** In ticks since the machine started; with the pid it identifies one process. 0 if the system does not report it. */
  readonly startTime: number;
}

/** The first process of a tree, as the point in time after which its members started. */
export interface Origin {
  readonly pid: number;
  readonly startTime: number;
  /** It started so recently that the ids cannot have wrapped around since. */
  readonly recent: boolean;
}

/** Too short for a command to use up the smallest range of ids (32,768). */
export const RECENT_MS = 500;

const HAS_PROC = process.platform === "linux";
/** Up to this number, checking every id is cheaper than listing all of /proc. */
const PROBE_LIMIT = 64;
/** New processes may appear during the check; on a busy machine that may never stop. */
const MAX_LOOKS = 32;

/** True only if it is certain that no process that started after the origin still runs. Reads one small file on an idle machine. */
export function nothingSince(origin: Omit<Origin, "startTime">): boolean {
  for (let look = 0; look < MAX_LOOKS && origin.recent; look++) {
    const last = lastPid();
    if (last < origin.pid || last - origin.pid > PROBE_LIMIT) return false;
    for (let pid = origin.pid + 1; pid <= last; pid++) {
      if (existsSync(`/proc/${pid}`)) return false;
    }
    // A process may have started another and ended before this check reached it.
    if (last === origin.pid || last === lastPid()) return true;
  }
  return false;
}

/**
 * Visits every live process that started with the origin or after it, including those that start meanwhile, and the children of a
 * process that ends before or during its visit. False if new processes never stopped appearing.
 */
export function visitSince(origin: Origin, visit: (row: ProcessRow) => void): boolean {
  if (!HAS_PROC) {
    for (const row of rowsOfPs()) visit(row);
    return true;
  }
  const seen = new Set<number>();
  let from = origin.recent && lastPid() >= origin.pid ? origin.pid : 1;
  for (let look = 0; look < MAX_LOOKS; look++) {
    const last = lastPid();
    for (const name of readdirSync("/proc")) {
      const pid = Number(name);
      if (!(pid >= from) || seen.has(pid)) continue;
      seen.add(pid);
      const row = readRow(pid);
      if (row !== undefined && row.startTime >= origin.startTime) visit(row);
    }
    const now = lastPid();
    if (now === last) return true;
    from = now > last ? last + 1 : 1;
  }
  return false;
}

/** Also for a process that has just ended, until its exit code is collected. */
export function startTimeOf(pid: number): number {
  return HAS_PROC ? (parseStat(pid)?.startTime ?? 0) : 0;
}

/**
 * Tells whether the process was started with this text somewhere in its environment. Undefined while that is unknown: while a
 * process changes into another program, the kernel shows neither environment nor arguments for a moment.
 */
export function environmentHolds(pid: number, text: string): boolean | undefined {
  if (!HAS_PROC) return false;
  try {
    for (let attempt = 0; attempt < 4; attempt++) {
      const environment = readFileSync(`/proc/${pid}/environ`);
      if (environment.length > 0) return environment.includes(text);
    }
    const hasArguments = readFileSync(`/proc/${pid}/cmdline`).length > 0;
    return hasArguments || readRow(pid) === undefined ? readFileSync(`/proc/${pid}/environ`).includes(text) : undefined;
  } catch {
    return false;
  }
}

/** Tells whether the process has a file open whose link reads like this. */
export function hasOpen(pid: number, link: string): boolean {
  try {
    for (const fd of readdirSync(`/proc/${pid}/fd`)) {
      if (linkOf(`/proc/${pid}/fd/${fd}`) === link) return true;
    }
  } catch {
    // Ended, or another user's.
  }
  return false;
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** The last id of the kernel; 0 if unknown. */
function lastPid(): number {
  try {
    const fields = readFileSync("/proc/loadavg", "latin1").trimEnd().split(" ");
    return Number(fields[4]) || 0;
  } catch {
    return 0;
  }
}

export function readRow(pid: number): ProcessRow | undefined {
  const row = parseStat(pid);
  if (row === undefined || row.state === "Z" || row.state === "X") return undefined;
  const isKernelThread = row.group === 0 && row.session === 0;
  return isKernelThread ? undefined : row;
}

function parseStat(pid: number): (ProcessRow & { readonly state: string | undefined }) | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // The name is in parentheses and may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group, session] = fields;
  return {
    pid,
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startTime: Number(fields[19]),
  };
}

/** POSIX `ps`. It starts a process, so it is used only before a kill. */
export function rowsOfPs(): readonly ProcessRow[] {
  let listing: string;
  try {
    listing = execFileSync("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat="], {
      encoding: "utf8",
      env: { PATH: SYSTEM_PATH },
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return [];
  }
  const rows: ProcessRow[] = [];
  for (const line of listing.split("\n")) {
    const [pid, parent, group, state] = line.trim().split(/\s+/);
    if (state === undefined || state.startsWith("Z")) continue;
    rows.push({ pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, startTime: 0 });
  }
  return rows;
}
