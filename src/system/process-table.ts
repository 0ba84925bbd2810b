/**
 * The machine's processes as the operating system lists them: /proc on Linux, `ps` elsewhere.
 *
 * 1. A row is of a process, never of a thread, and never of a zombie: a zombie runs nothing and holds nothing.
 * 2. Process ids are handed out upwards, so whatever started after `pid` has a higher id, unless the numbers wrapped round; then
 *    every process is a candidate.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** 0 where the system does not tell. */
  readonly session: number;
  /** With the pid it names one process for ever; empty where the system does not tell. */
  readonly startTime: string;
}

export interface Candidates {
  readonly rows: readonly ProcessRow[];
  /** The ids wrapped round: the rows hold older processes too. */
  readonly wrapped: boolean;
}

const HAS_PROC = process.platform === "linux";
/** Up to here looking at every id is cheaper than listing the whole of /proc. */
const PROBE_LIMIT = 64;
/** New processes may appear while we look; on a busy machine that may never stop. */
const MAX_LOOKS = 8;

/** Whether anything but `pid` itself may have started after it and still run. No false "no"; reads one small file when idle. */
export function anythingSince(pid: number): boolean {
  for (let look = 0; look < MAX_LOOKS; look++) {
    const last = lastPid();
    if (last < pid || last - pid > PROBE_LIMIT) return candidatesSince(pid).rows.length > 0;
    for (let next = pid + 1; next <= last; next++) if (existsSync(`/proc/${next}`)) return true;
    // A process that was seen running may have started another and ended before we came to it.
    if (last === pid || last === lastPid()) return false;
  }
  return true;
}

/** Every live process that may have started at or after `pid`. */
export function candidatesSince(pid: number): Candidates {
  if (!HAS_PROC) return { rows: rowsOfPs(), wrapped: true };
  const rows: ProcessRow[] = [];
  if (lastPid() < pid) {
    collectRows(rows, 2);
    return { rows, wrapped: true };
  }
  let from = pid;
  for (let look = 0; look < MAX_LOOKS; look++) {
    const last = lastPid();
    collectRows(rows, from);
    if (lastPid() === last) break;
    from = last + 1;
  }
  return { rows: rows.length > 1 ? [...new Map(rows.map((row) => [row.pid, row])).values()] : rows, wrapped: false };
}

function collectRows(rows: ProcessRow[], from: number): void {
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!(pid >= from)) continue;
    const row = readRow(pid);
    if (row !== undefined) rows.push(row);
  }
}

/** Whether the process was started with this text somewhere in its environment. */
export function environmentHolds(pid: number, text: string): boolean {
  if (!HAS_PROC) return false;
  try {
    return readFileSync(`/proc/${pid}/environ`).includes(text);
  } catch {
    return false;
  }
}

/** Whether the process has a file open whose link reads like this. */
export function hasOpen(pid: number, link: string): boolean {
  try {
    for (const fd of readdirSync(`/proc/${pid}/fd`)) {
      if (linkOf(`/proc/${pid}/fd/${fd}`) === link) return true;
    }
  } catch {
    // Ended, or somebody else's.
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

/** The id the kernel gave out last; 0 when it cannot be told, which reads as "wrapped". */
function lastPid(): number {
  try {
    const fields = readFileSync("/proc/loadavg", "latin1").trimEnd().split(" ");
    return Number(fields[4]) || 0;
  } catch {
    return 0;
  }
}

function readRow(pid: number): ProcessRow | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // The name stands in parentheses and may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group, session] = fields;
  if (state === "Z" || state === "X") return undefined;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startTime: fields[19] ?? "",
  };
}

/** `ps` of POSIX. It costs a process, so it serves only where something is to be killed. */
export function rowsOfPs(): readonly ProcessRow[] {
  let listing: string;
  try {
    listing = execFileSync("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat="], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return [];
  }
  const rows: ProcessRow[] = [];
  for (const line of listing.split("\n")) {
    const [pid, parent, group, state] = line.trim().split(/\s+/);
    if (state === undefined || state.startsWith("Z")) continue;
    rows.push({ pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, startTime: "" });
  }
  return rows;
}
