/** The table of sessions: what each of them is, what it does now, and who is in it. */
import { ago, type Column, renderTable } from "../../../base/text-table.js";
import type { SessionId } from "../../../protocol/ids.js";
import type { SessionRecord, SessionStore } from "../../../sessions/store.js";
import type { LiveSession } from "../../sessions/live-sessions.js";
import { lastEnd, type SessionEnd } from "../../sessions/session-end.js";

export type SessionStatus = LiveSession["state"] | "done" | "paused" | "interrupted";

export interface SessionRow extends SessionRecord {
  readonly status: SessionStatus;
  /** Absent if the store cannot count them. */
  readonly turns?: number;
  /** Clients of this engine, or the process that has it open. */
  readonly attached_by: readonly string[];
}

interface Sources {
  readonly store: SessionStore;
  /** Of this engine. */
  readonly live: ReadonlyMap<SessionId, LiveSession> | undefined;
}

export async function rowsOf(records: readonly SessionRecord[], { store, live }: Sources): Promise<SessionRow[]> {
  return Promise.all(
    records.map(async (record) => {
      const here = live?.get(record.id);
      const holder = here === undefined ? store.holder?.(record.id) : undefined;
      const end = await lastEnd(record, store);
      const status = here?.state ?? (holder === undefined ? endOf(end) : end.unfinished ? "running" : "idle");
      // A damaged session is listed, too.
      const turns = await store.count?.(record.id, "TurnStarted").catch(() => undefined);
      const process = holder === undefined ? [] : [holder.pid === undefined ? "another system" : `pid ${holder.pid}`];
      return { ...record, status, ...(turns !== undefined && { turns }), attached_by: here?.clients ?? process };
    }),
  );
}

/** A branch, and a session that was left between turns, miss nothing. */
function endOf({ ended, unfinished }: SessionEnd): SessionStatus {
  if (unfinished || ended === "error") return "interrupted";
  return ended === "paused" ? "paused" : "done";
}

export interface ListLook {
  readonly now: number;
  /** Sessions of all folders. */
  readonly all: boolean;
  readonly width: number | undefined;
  readonly color: boolean;
}

/** On narrower screens the end of an id is enough: it names the session, too. */
const WHOLE_IDS = 160;
const SHORT_ID = 8;

/** Few sessions have something in these columns. */
const RARE: ReadonlySet<string> = new Set(["OF", "", "BRANCH OF"]);

export function sessionTable(rows: readonly SessionRow[], { now, all, width, color }: ListLook): string {
  const isShort = width !== undefined && width < WHOLE_IDS;
  const idOf = (id: SessionId) => (isShort ? id.slice(-SHORT_ID) : id);
  const columns: Column<SessionRow>[] = [
    { header: "STATUS", value: ({ status }) => status, priority: 7, minWidth: 11 },
    { header: "ID", value: ({ id }) => idOf(id), priority: 9, minWidth: isShort ? SHORT_ID : 31 },
    { header: "OF", value: ({ parent }) => parent && `└ ${parent.session.slice(-6)}`, priority: 8 },
    { header: "", value: ({ pinned }) => (pinned ? "★" : ""), priority: 5 },
    { header: "AGE", value: ({ active_at }) => ago(now - Date.parse(active_at)), align: "right", priority: 8 },
    { header: "TITLE", value: ({ title }) => title, priority: 6, minWidth: 12, maxWidth: 60 },
    { header: "PROFILE", value: ({ profile }) => profile, priority: 2, maxWidth: 14 },
    {
      header: "MODEL",
      value: ({ provider, model }) => `${provider}:${model}`,
      priority: 4,
      minWidth: 14,
      maxWidth: 32,
    },
    { header: "TURNS", value: ({ turns }) => turns?.toString(), align: "right", priority: 5 },
    {
      header: "BRANCH OF",
      value: ({ branch_of }) => branch_of && idOf(branch_of.session),
      priority: 1,
      minWidth: 9,
      maxWidth: 31,
    },
    {
      header: "ATTACHED BY",
      value: ({ attached_by }) => attached_by.join(", "),
      priority: 3,
      minWidth: 11,
      maxWidth: 24,
    },
    { header: "FOLDER", value: ({ cwd }) => cwd, priority: all ? 5 : 0, minWidth: 12 },
  ];
  const used = columns.filter(({ header, value }) => !RARE.has(header) || rows.some((row) => value(row)));
  return renderTable(used, rows, { width, color });
}
