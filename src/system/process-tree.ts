/**
 * Finds and ends everything that a command started, even processes that detach themselves.
 *
 * 1. A process belongs to the tree if it is in the command's process group or session, if its parent belongs, if it has the tree's
 *    marker in its environment (which survives setsid, nohup and double forks) or in its limits, or if it holds the command's output
 *    open; and if it is not older than the command. A member stays a member until it has ended.
 * 2. A session whose leader is a member has no other members than the leader's descendants.
 * 3. No other process is ever signalled: the group id is used only while the group has members, a pid only together with its start
 *    time.
 * 4. A tree is empty only when every candidate has been checked with certainty.
 * 5. The ordinary end of a command costs one signal 0 and one small file read.
 *
 * Without a mark in the limits, a process that clears its environment, starts a new session, closes the output and loses its parent
 * before the command ends looks like an unrelated process. Only a process namespace (the sandbox) contains it then.
 */
import { spawnSync } from "node:child_process";
import type { Clock } from "../base/clock.js";
import { hasLimitMark, type LimitMark } from "./limit-mark.js";
import { nodeClock } from "./node-clock.js";
import {
  environmentHolds,
  hasOpen,
  nothingSince,
  type Origin,
  type ProcessRow,
  RECENT_MS,
  startTimeOf,
  visitSince,
} from "./process-table.js";

/** The environment variable that carries the markers, outermost first: an Oxbow inside an Oxbow has both. */
export const MARKER_VARIABLE = "OXBOW_CALL";

/** The beginning of every marker that this process makes. It must be unique, but not secret. */
export const INSTANCE_MARKER = `${[process.pid, Date.now(), Math.random() * 2 ** 53].map((part) => part.toString(36)).join("-")}.`;
let counter = 0;

export function nextMarker(): string {
  counter += 1;
  return `${INSTANCE_MARKER}${counter.toString(36)}.`;
}

export function withMarker(env: Readonly<Record<string, string>>, marker: string): Record<string, string> {
  const outer = env[MARKER_VARIABLE];
  return { ...env, [MARKER_VARIABLE]: outer === undefined ? marker : `${outer}:${marker}` };
}

export interface TerminateOptions {
  readonly clock: Clock;
  /** The time between SIGTERM and SIGKILL. */
  readonly graceMs: number;
}

export interface ProcessTreeOptions {
  readonly marker: string;
  readonly limitMark?: LimitMark | undefined;
  /** The name of the command's output in /proc, if only the command has it. */
  readonly outputLink?: string | undefined;
  /** The first process is only a wrapper and ends with the others: it gets SIGKILL, never SIGTERM. */
  readonly isWrapper?: boolean;
  /** No process outlives the first one. */
  readonly endsWithAll?: boolean;
}

/** SIGKILL cannot be refused, but a process stuck in the kernel (a dead network disk) does not notice it. */
const KILL_LIMIT_MS = 2000;
const KILL_NOW_ROUNDS = 50;
/** The checks are 1, 2, 4 … 32 ms apart; an exec takes microseconds on an idle machine. */
const MAX_UNSURE_LOOKS = 12;
const WINDOWS = process.platform === "win32";
const LINUX = process.platform === "linux";

export class ProcessTree {
  readonly pid: number;
  readonly limitMark: LimitMark | undefined;
  readonly #marker: string;
  readonly #outputLink: string | undefined;
  readonly #isWrapper: boolean;
  readonly #endsWithAll: boolean;
  readonly #sessions: Set<number>;
  readonly #known = new Map<number, number>();
  #startTime: number | undefined;
  readonly #seenAt = nodeClock.now();
  readonly #unsureLooks = new Map<number, number>();
  #unsure = false;
  #exited = false;
  #allEnded = false;
  #groupGone = false;

  constructor(pid: number, options: ProcessTreeOptions) {
    this.pid = pid;
    this.limitMark = options.limitMark;
    this.#marker = options.marker;
    this.#outputLink = options.outputLink;
    this.#isWrapper = options.isWrapper ?? false;
    this.#endsWithAll = options.endsWithAll ?? false;
    this.#sessions = new Set([pid]);
  }

  /** It has run long enough for ids to repeat, so from now on the age decides. */
  recordLasting(): void {
    if (!this.#exited) this.#startTime ??= startTimeOf(this.pid);
  }

  /** The first process was reaped: from now on its id is valid only as long as its group exists. */
  recordExit({ signal }: { readonly signal: NodeJS.Signals | undefined }): void {
    this.#exited = true;
    if (this.#endsWithAll && signal === undefined) this.#allEnded = true;
  }

  isEmpty(): boolean {
    if (!this.#exited) return false;
    if (WINDOWS || this.#allEnded) return true;
    const groupAlive = this.#groupAlive();
    if (LINUX)
      return (
        (!groupAlive && nothingSince({ pid: this.pid, recent: this.#isRecent })) || this.#sawNobody(this.members())
      );
    return !groupAlive && ![...this.#known.keys()].some((pid) => pid !== this.pid && send(pid, 0));
  }

  /** The live members, the first process included. */
  members(): readonly ProcessRow[] {
    if (WINDOWS) return [];
    const mine = new Map<number, ProcessRow>();
    let rest: ProcessRow[] = [];
    this.#unsure = false;
    const complete = visitSince(this.#origin(), (row) => {
      if (row.pid === process.pid) return;
      if (this.#isKin(row)) this.#admit(row, mine);
      else if (this.#holdsOutput(row)) mine.set(row.pid, row);
      else rest.push(row);
    });
    this.#unsure ||= !complete;
    for (let before = -1; before !== rest.length; ) {
      before = rest.length;
      rest = rest.filter((row) => {
        if (!mine.has(row.parent) && !this.#sessions.has(row.session)) return true;
        this.#admit(row, mine);
        return false;
      });
    }
    const members = [...mine.values()];
    if (this.#exited && !members.some((row) => row.group === this.pid)) this.#groupGone = true;
    return members;
  }

  /** Ends every member: one SIGTERM, a wait, SIGKILL. Resolves with the number that could not be ended. */
  async terminate({ clock, graceMs }: TerminateOptions): Promise<number> {
    const asked = new Set<number>();
    let groupAsked = false;
    const ask = (members: readonly ProcessRow[]) => {
      // What a process of the group starts while it ends would get the whole group another signal.
      const inGroup = (member: ProcessRow) => !this.#isWrapper && member.group === this.pid;
      const news = members.filter((member) => !asked.has(member.pid) && !(groupAsked && inGroup(member)));
      for (const member of news) asked.add(member.pid);
      groupAsked ||= news.some(inGroup);
      // A stopped process handles SIGTERM only after it continues.
      if (news.length > 0) this.#signal(news, ["SIGTERM", "SIGCONT"]);
    };
    if (await this.#emptyWithin(ask, { clock, ms: graceMs })) return 0;
    const insist = (members: readonly ProcessRow[]) => this.#signal(members, ["SIGKILL"]);
    if (await this.#emptyWithin(insist, { clock, ms: KILL_LIMIT_MS })) return 0;
    return this.members().length;
  }

  /** The last resort when this process is about to end and cannot wait. */
  killNow(): void {
    for (let round = 0; round < KILL_NOW_ROUNDS; round++) {
      const members = this.members();
      if (this.#sawNobody(members) && round > 0) return;
      this.#signal(members, ["SIGKILL"]);
    }
  }

  /** Checks and acts repeatedly. True if the tree was empty within the time limit. */
  async #emptyWithin(
    act: (members: readonly ProcessRow[]) => void,
    { clock, ms }: { readonly clock: Clock; readonly ms: number },
  ): Promise<boolean> {
    const deadline = clock.now() + ms;
    for (let pause = 1; ; pause = Math.min(pause * 2, 32)) {
      const members = this.members();
      act(members);
      if (this.#exited && this.#sawNobody(members) && (LINUX || this.isEmpty())) return true;
      const left = deadline - clock.now();
      if (left <= 0) return false;
      await new Promise<void>((resolve) => clock.after(Math.min(pause, left), resolve));
    }
  }

  #signal(members: readonly ProcessRow[], names: readonly NodeJS.Signals[]): void {
    if (WINDOWS) {
      if (!this.#exited) taskkill(this.pid);
      return;
    }
    for (const name of names) {
      if (this.#isWrapper && name !== "SIGKILL") {
        for (const { pid } of members) if (pid !== this.pid) send(pid, name);
        continue;
      }
      // The group first: the kernel signals all of it at one moment, so no member can fork out of reach.
      if (members.some((member) => member.group === this.pid) && this.#groupAlive()) send(-this.pid, name);
      for (const member of members) if (member.group !== this.pid) send(member.pid, name);
    }
  }

  get #isRecent(): boolean {
    return nodeClock.now() - this.#seenAt < RECENT_MS;
  }

  /** Without a start time, as when it ended at once, all processes are checked. */
  #origin(): Origin {
    this.recordLasting();
    return { pid: this.pid, startTime: this.#startTime ?? 0, recent: this.#isRecent };
  }

  #sawNobody(members: readonly ProcessRow[]): boolean {
    return members.length === 0 && !this.#unsure;
  }

  #groupAlive(): boolean {
    if (this.#groupGone) return false;
    const alive = send(-this.pid, 0);
    if (!alive && this.#exited) this.#groupGone = true;
    return alive;
  }

  #isKin(row: ProcessRow): boolean {
    if (row.pid === this.pid) return !this.#exited;
    return (
      (row.group === this.pid && !this.#groupGone) ||
      this.#sessions.has(row.session) ||
      this.#known.get(row.pid) === row.startTime ||
      (this.limitMark !== undefined && hasLimitMark(row.pid, this.limitMark)) ||
      this.#isMarked(row.pid)
    );
  }

  #isMarked(pid: number): boolean {
    const marked = environmentHolds(pid, this.#marker);
    if (marked !== undefined) return marked;
    // It will be known soon; an unrelated process must not make us wait forever.
    const looks = (this.#unsureLooks.get(pid) ?? 0) + 1;
    this.#unsureLooks.set(pid, looks);
    this.#unsure ||= looks <= MAX_UNSURE_LOOKS;
    return false;
  }

  #holdsOutput(row: ProcessRow): boolean {
    // For a moment so does our own child before it starts another program.
    if (row.parent === process.pid) return false;
    return this.#outputLink !== undefined && hasOpen(row.pid, this.#outputLink);
  }

  #admit(row: ProcessRow, mine: Map<number, ProcessRow>): void {
    mine.set(row.pid, row);
    this.#known.set(row.pid, row.startTime);
    // Not the session of just any member: a service that was running before can start one on our behalf, with our environment.
    if (row.session === row.pid) this.#sessions.add(row.session);
  }
}

/** False if no process is left to receive it. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function taskkill(pid: number): void {
  spawnSync("taskkill", ["/pid", String(pid), "/t", "/f"], { stdio: "ignore", windowsHide: true });
}
