/**
 * Retention while an engine lives, in any process: soon after its start and once a day. It deletes content that was announced long
 * enough ago (`sessions/retention.ts`), and announces what is next to every person, also to those who come later.
 *
 * 1. A notice counts from the moment that a person's client gets it. An engine that only programs use announces nothing, so it deletes nothing.
 * 2. A person can dismiss the notice about the sessions that it named. A session that falls due later is announced again.
 * 3. The first notice also says where the key is, if a run without a terminal created it.
 */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { Announcement } from "../../control/host.js";
import type { SessionId } from "../../protocol/ids.js";
import { isJsonObject } from "../../protocol/json.js";
import type { DueSession, RetentionPolicy } from "../../sessions/retention.js";
import type { LogFunction } from "../../system/log.js";
import type { Roots } from "../../system/xdg-paths.js";
import type { Settings } from "../settings/settings.js";
import type { SessionStores } from "./session-stores.js";

export interface RetentionWatchOptions {
  readonly sessions: SessionStores;
  readonly settings: Settings;
  readonly roots: Roots;
  readonly clock: Clock;
  readonly log: LogFunction;
  readonly announce: (announcement: Announcement) => void;
}

/** The first request has been sent by then. */
const START_MS = 250;
const DAY_MS = 24 * 60 * 60 * 1000;
const NAMED = 3;
const MOST_EXPIRING = 100;

export class RetentionWatch {
  readonly #options: RetentionWatchOptions;
  readonly #closing = new AbortController();
  #stopTimer = () => {};
  #work: Promise<void> = Promise.resolve();

  constructor(options: RetentionWatchOptions) {
    this.#options = options;
    this.#wait(START_MS);
  }

  /** Resolves when nothing is under way. */
  get settled(): Promise<void> {
    return this.#work;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#stopTimer();
    await this.#work;
  }

  #wait(ms: number): void {
    const look = () => {
      this.#wait(DAY_MS);
      this.#do((signal) => this.#look(signal));
    };
    this.#stopTimer = this.#options.clock.after(ms, look, "unheld");
  }

  /** One thing after the other. A failure concerns neither a turn nor a client. */
  #do(action: (signal: AbortSignal) => Promise<void>): void {
    const { signal } = this.#closing;
    this.#work = this.#work
      .then(() => (signal.aborted ? undefined : action(signal)))
      .catch((error) => {
        if (signal.aborted) return;
        this.#options.log("warn", "sessions", "cannot look for sessions that are about to expire", {
          error: String(error),
        });
      });
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { sessions, settings, roots, clock, announce } = this.#options;
    if (!(await sessions.exists())) return;
    const store = await sessions.open();
    if (store === undefined) return;
    const { collect, dueSoon, takeBackNotices } = await import("../../sessions/retention.js");
    const now = clock.wall();
    const policy = await retentionPolicy(settings, roots);
    const gone = (await collect(store, now, { policy, signal })).filter(({ error }) => error === undefined);
    if (policy.announcedDays > policy.days) await takeBackNotices(store);
    const { sweepOutputs } = await import("../../sessions/outputs.js");
    const knowsAll = await sessions.isOwn();
    const find = (session: SessionId) => store.get(session);
    await sweepOutputs(join(roots.state, "output"), { now, days: policy.days, find, knowsAll });
    signal.throwIfAborted();
    const due = await dueSoon(store, now, policy);
    const before = await readState(roots);
    await writeState(roots, { ...before, days: policy.days, dismissed: stillDismissed(before, due) });
    announce({ notices: () => this.#notices(due, gone.length), onShown: () => this.#do(() => this.#markShown(due)) });
  }

  /** Read again for each person who comes: another one may have dismissed a notice. */
  async #notices(due: readonly DueSession[], gone: number): Promise<Awaited<ReturnType<Announcement["notices"]>>> {
    const { sessions, roots } = this.#options;
    const { knowsKey, dismissed } = await readState(roots);
    const shown = due.filter(({ session }) => !dismissed.includes(session));
    const news = knowsKey ? undefined : await sessions.earlierKeyNews().catch(() => undefined);
    return [
      ...(news === undefined ? [] : [{ message: news }]),
      ...(gone === 0
        ? []
        : [{ message: `${countOf(gone, "session has", "sessions have")} lost content, as announced.` }]),
      ...(shown.length === 0
        ? []
        : [{ message: dueText(shown), expiring: shown.slice(0, MOST_EXPIRING).map(asExpiring) }]),
    ];
  }

  async #markShown(due: readonly DueSession[]): Promise<void> {
    const { sessions, roots, clock } = this.#options;
    const [store, { markNoticed }] = await Promise.all([sessions.open(), import("../../sessions/retention.js")]);
    if (store !== undefined) await markNoticed(store, due, clock.wall());
    const state = await readState(roots);
    if (!state.knowsKey) await writeState(roots, { ...state, knowsKey: true });
  }
}

function dueText(due: readonly DueSession[]): string {
  const first = due.slice(0, NAMED).map(({ session, title }) => `${session} (${title ?? "no title"})`);
  const more = due.length > NAMED ? ` and ${due.length - NAMED} more` : "";
  const count = countOf(due.length, "session loses", "sessions lose");
  return `${count} content from ${due[0]?.expires_at.slice(0, 10)} on: ${first.join(", ")}${more}. 'oxbow session pin ID' or 'export' keeps it; 'oxbow session dismiss' or /session:dismiss hides this notice.`;
}

function asExpiring({ session, title, expires_at }: DueSession) {
  return { session, expires_at, ...(title !== undefined && { title }) };
}

/** Hides the notices that a person has got. Returns how many sessions that are. */
export async function dismissNotices(due: readonly DueSession[], roots: Roots): Promise<number> {
  const dismissed = due.flatMap(({ session, noticed }) => (noticed ? [session] : []));
  await writeState(roots, { ...(await readState(roots)), dismissed });
  return dismissed.length;
}

/** A notice about later content of the same session is another one. */
function stillDismissed({ dismissed }: RetentionState, due: readonly DueSession[]): readonly string[] {
  return due.flatMap(({ session, noticed }) => (noticed && dismissed.includes(session) ? [session] : []));
}

/** The retention in the profile now, and at the time of the notices. */
export async function retentionPolicy(
  settings: Settings,
  roots: Roots,
): Promise<RetentionPolicy & { readonly announcedDays: number }> {
  const { DEFAULT_RETENTION } = await import("../../sessions/retention.js");
  const { days: announcedDays = DEFAULT_RETENTION.days } = await readState(roots);
  return { ...DEFAULT_RETENTION, days: settings.retention_days.value, announcedDays };
}

interface RetentionState {
  /** The retention at the time of the last notices. */
  readonly days?: number;
  /** A person has got the message about the place of the key. */
  readonly knowsKey: boolean;
  readonly dismissed: readonly string[];
}

/** Reads the state. What cannot be read hides nothing. */
async function readState(roots: Roots): Promise<RetentionState> {
  const written = await readFile(stateFile(roots), "utf8").catch(() => "{}");
  const value = parsed(written);
  const { days, knows_key: knowsKey, dismissed } = isJsonObject(value) ? value : {};
  return {
    ...(typeof days === "number" && { days }),
    knowsKey: knowsKey === true,
    dismissed: Array.isArray(dismissed) ? dismissed.filter((each) => typeof each === "string") : [],
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function writeState(roots: Roots, { days, knowsKey, dismissed }: RetentionState): Promise<void> {
  const { writeFileAtomic } = await import("../../system/atomic-file.js");
  await mkdir(roots.state, { recursive: true, mode: 0o700 });
  const text = JSON.stringify({ days, knows_key: knowsKey, dismissed });
  await writeFileAtomic(stateFile(roots), `${text}\n`, { mode: 0o600 });
}

function stateFile(roots: Roots): string {
  return join(roots.state, "retention.json");
}

function countOf(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
