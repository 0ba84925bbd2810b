/**
 * Announces which sessions will lose content, and deletes content that was announced long enough ago. At most once a
 * day, and only on a terminal: a notice that no user sees does not count. The first time it also says where the key is,
 * if a run without a terminal created it.
 */
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { SessionId } from "../../protocol/ids.js";
import type { Roots } from "../../system/xdg-paths.js";
import type { Settings } from "../settings/settings.js";
import type { SessionStores } from "./session-stores.js";

export interface RetentionNotice {
  readonly sessions: SessionStores;
  readonly settings: Settings;
  readonly roots: Roots;
  readonly clock: Clock;
  readonly notify: (message: string) => void;
}

const BETWEEN_MS = 20 * 60 * 60 * 1000;
const NAMED = 3;

export async function tendRetention({ sessions, settings, roots, clock, notify }: RetentionNotice): Promise<void> {
  const stamp = stampOf(roots);
  const checked = await stat(stamp).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  const now = clock.wall();
  if (Math.abs(now - checked) < BETWEEN_MS) return;
  const store = await sessions.open();
  if (store === undefined) return;
  // The first time on a terminal.
  const news = checked === 0 ? await sessions.earlierKeyNews() : undefined;
  if (news !== undefined) notify(news);
  const { collect, dueSoon, markNoticed, takeBackNotices } = await import("../../sessions/retention.js");
  const policy = await retentionPolicy(settings, roots);
  const gone = (await collect(store, now, { policy })).filter(({ error }) => error === undefined);
  if (gone.length > 0) notify(`${countOf(gone, "session has", "sessions have")} lost content, as announced.`);
  if (policy.announcedDays > policy.days) await takeBackNotices(store);
  const { sweepOutputs } = await import("../../sessions/outputs.js");
  const knowsAll = (await sessions.choice()).kind === "sqlite";
  const find = (session: SessionId) => store.get(session);
  await sweepOutputs(join(roots.state, "output"), { now, days: policy.days, find, knowsAll });
  const due = await dueSoon(store, now, policy);
  if (due.length > 0) {
    const first = due.slice(0, NAMED).map(({ session, title }) => `${session} (${title ?? "no title"})`);
    const more = due.length > NAMED ? ` and ${due.length - NAMED} more` : "";
    const count = countOf(due, "session loses", "sessions lose");
    const when = due[0]?.expires_at.slice(0, 10);
    notify(
      `${count} content from ${when} on: ${first.join(", ")}${more}. 'oxbow session pin ID' or 'export' keeps it.`,
    );
    await markNoticed(store, due, now);
  }
  await mkdir(roots.state, { recursive: true, mode: 0o700 });
  await writeFile(stamp, String(policy.days));
}

/** The retention in the profile now, and at the time of the notices. */
export async function retentionPolicy(settings: Settings, roots: Roots) {
  const { DEFAULT_RETENTION } = await import("../../sessions/retention.js");
  const days = settings.retention_days.value;
  const written = await readFile(stampOf(roots), "utf8").catch(() => "");
  return { ...DEFAULT_RETENTION, days, announcedDays: Number(written.trim() || DEFAULT_RETENTION.days) };
}

function stampOf(roots: Roots): string {
  return join(roots.state, "retention-checked");
}

function countOf(all: readonly unknown[], one: string, many: string): string {
  return `${all.length} ${all.length === 1 ? one : many}`;
}
