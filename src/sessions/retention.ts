/**
 * Decides when content expires. Stores delete it (`expire`).
 *
 * 1. Content expires by the age of its event, not of its session: after 30 days by default. Younger content stays, also in the middle
 *    of a long session. Events expire in their order: an event whose clock ran ahead keeps the events after it.
 * 2. Nothing expires without notice. A notice is given when content is due within the next 7 days, or is already due. It covers that
 *    content only: later content needs another notice.
 * 3. Content expires at the earliest 7 days after its notice, and not before it is due.
 * 4. A pending notice is not repeated: showing the banner every day does not move the date. It ends when its content has
 *    expired.
 * 5. A shorter time in the profile does not extend an older notice: that notice covers what was due by the time of then.
 * 6. A title that quotes expired content expires too. A title from the user stays.
 * 7. Pinned sessions lose nothing. A pin ends the notice: after the pin is removed, a new notice comes first.
 * 8. A session that cannot be read loses nothing and does not block the others.
 */
import { plainText } from "../protocol/content.js";
import type { SessionId } from "../protocol/ids.js";
import type { SessionRecord, SessionStore } from "./store.js";

export interface RetentionPolicy {
  /** Says how long content is kept. */
  readonly days: number;
  /** Says how long before it expires the user gets a notice. */
  readonly noticeDays: number;
  /** Says how long content was kept when the current notices were given; default: `days`. */
  readonly announcedDays?: number;
}

export const DEFAULT_RETENTION: RetentionPolicy = { days: 30, noticeDays: 7 };

/** A session that loses content soon, for the banner. */
export interface DueSession {
  readonly session: SessionId;
  readonly title?: string;
  readonly cwd: string;
  /** The time when the oldest of it expires, at the earliest. */
  readonly expires_at: string;
  /** The user got a notice about the oldest of it. */
  readonly noticed: boolean;
}

export interface Collected {
  readonly session: SessionId;
  /** Says how many events lost their content, or would. */
  readonly events: number;
  /** The last of them. */
  readonly upTo: number;
  readonly reason: string;
  /** The reason why it failed; then it is unknown what has expired. */
  readonly error?: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The first to expire comes first. Reads one event of each session that is old enough, and none of the others. */
export async function dueSoon(store: SessionStore, now: number, policy: RetentionPolicy): Promise<DueSession[]> {
  const due: DueSession[] = [];
  for (const record of await store.list({ pinned: false })) {
    if (!mayBeDue(record, now, policy)) continue;
    // A store may answer without a pause, and other clients wait meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
    const oldest = await oldestContent(store, record).catch(() => undefined);
    const found = oldest === undefined ? undefined : assess({ record, oldest }, now, policy);
    if (found !== undefined) due.push(found);
  }
  return due.sort((a, b) => a.expires_at.localeCompare(b.expires_at));
}

/** undefined when its oldest content, of `oldest` (in milliseconds), does not fall due within the days of notice. */
function assess(
  { record, oldest }: { readonly record: SessionRecord; readonly oldest: number },
  now: number,
  policy: RetentionPolicy,
): DueSession | undefined {
  const dueAt = oldest + policy.days * DAY_MS;
  if (record.pinned || dueAt > now + policy.noticeDays * DAY_MS) return undefined;
  const noticedAt = noticeFor(record, oldest, policy);
  // Content with an old enough notice expires at the next run, which is not in the past.
  const expiresAt = Math.max(now, dueAt, (noticedAt ?? now) + policy.noticeDays * DAY_MS);
  return {
    session: record.id,
    ...(record.title !== undefined && { title: record.title }),
    cwd: record.cwd,
    expires_at: new Date(expiresAt).toISOString(),
    noticed: noticedAt !== undefined,
  };
}

/** The user has seen the notice. */
export async function markNoticed(store: SessionStore, sessions: readonly DueSession[], now: number): Promise<void> {
  const noticed_at = new Date(now).toISOString();
  for (const { session, noticed } of sessions) if (!noticed) await store.update(session, { noticed_at });
}

/** The retention is shorter now: earlier notices do not cover it. */
export async function takeBackNotices(store: SessionStore): Promise<void> {
  for (const { id, noticed_at } of await store.list({ pinned: false })) {
    if (noticed_at !== undefined) await store.update(id, { noticed_at: null });
  }
}

export interface CollectOptions {
  /** Returns what would expire, and changes nothing. */
  readonly dryRun?: boolean;
  readonly policy?: RetentionPolicy;
  readonly signal?: AbortSignal;
}

/** Expires what is due and has its notice. */
export async function collect(
  store: SessionStore,
  now: number,
  { dryRun = false, policy = DEFAULT_RETENTION, signal }: CollectOptions = {},
): Promise<Collected[]> {
  const collected: Collected[] = [];
  for (const record of await store.list()) {
    signal?.throwIfAborted();
    if (record.noticed_at === undefined) continue;
    if (record.pinned) {
      if (!dryRun) await store.update(record.id, { noticed_at: null });
      continue;
    }
    const until = announcedUntil(record, now, policy);
    if (until === undefined) continue;
    const found = await collectOne(store, { record, until, dryRun });
    if (found !== undefined) collected.push({ ...found, reason: reasonOf(record, policy) });
  }
  return collected;
}

interface Collection {
  readonly record: SessionRecord;
  readonly until: number;
  readonly dryRun: boolean;
}

async function collectOne(
  store: SessionStore,
  { record: { id, expired_to, title }, until, dryRun }: Collection,
): Promise<Omit<Collected, "reason"> | undefined> {
  let upTo = expired_to;
  let quoted = false;
  try {
    for await (const event of store.events(id, { after: expired_to })) {
      if (Date.parse(event.ts) > until) break;
      upTo = event.id;
      quoted ||= event.kind === "TurnStarted" && quotes(title, plainText(event.payload.input));
    }
    if (!dryRun) {
      if (upTo > expired_to) await store.expire(id, upTo);
      await store.update(id, { noticed_at: null, ...(quoted && { title: null }) });
    }
    return upTo > expired_to ? { session: id, events: upTo - expired_to, upTo } : undefined;
  } catch (error) {
    return { session: id, events: 0, upTo: expired_to, error: (error as Error).message };
  }
}

/** Tells whether the title is the beginning of this input, as the first line of a session is made its title. */
function quotes(title: string | undefined, input: string): boolean {
  const plain = (words: string) => words.trim().replace(/\s+/g, " ");
  const words = plain(title?.replace(/…$/, "") ?? "");
  return words !== "" && plain(input).startsWith(words);
}

/** Content up to this moment is due, was announced, and long enough ago; undefined when there is no such moment. */
function announcedUntil(record: SessionRecord, now: number, policy: RetentionPolicy): number | undefined {
  if (record.noticed_at === undefined) return undefined;
  const noticedAt = Date.parse(record.noticed_at);
  if (now < noticedAt + policy.noticeDays * DAY_MS) return undefined;
  return Math.min(coveredBy(noticedAt, policy), now - policy.days * DAY_MS);
}

/** A notice covers earlier content that expires within the days of notice. */
function coveredBy(noticedAt: number, { days, noticeDays, announcedDays = days }: RetentionPolicy): number {
  return Math.min(noticedAt, noticedAt + (noticeDays - Math.max(days, announcedDays)) * DAY_MS);
}

/** Tells when the notice was given that content of this time needs; undefined when none was, or one for older content. */
function noticeFor(record: SessionRecord, time: number, policy: RetentionPolicy): number | undefined {
  if (record.noticed_at === undefined) return undefined;
  const noticedAt = Date.parse(record.noticed_at);
  return time <= coveredBy(noticedAt, policy) ? noticedAt : undefined;
}

/** Without reading its events: a young session usually has young content; a copy of an old session is found when it is older. */
function mayBeDue(record: SessionRecord, now: number, { days, noticeDays }: RetentionPolicy): boolean {
  if (record.expired_to >= record.last_event) return false;
  return Date.parse(record.created_at) + days * DAY_MS <= now + noticeDays * DAY_MS;
}

async function oldestContent(store: SessionStore, { id, expired_to }: SessionRecord): Promise<number | undefined> {
  for await (const event of store.events(id, { after: expired_to, limit: 1 })) return Date.parse(event.ts);
  return undefined;
}

function reasonOf({ noticed_at }: SessionRecord, { days }: RetentionPolicy): string {
  return `older than ${days} days, announced on ${noticed_at?.slice(0, 10)}`;
}
