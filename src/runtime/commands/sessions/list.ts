import { safeLine } from "../../../base/terminal-text.js";
import { ago, type Column, renderTable } from "../../../base/text-table.js";
import { UsageError } from "../../../base/usage-error.js";
import { asValue } from "../../../commands/command.js";
import type { SessionRecord, SessionStore } from "../../../sessions/store.js";
import type { SessionAction } from "./port.js";

export const list: SessionAction = async (args, { store, folder, clock }, { warn, screen }) => {
  const limit = Number(args.flag("limit") ?? 20);
  if (!Number.isInteger(limit) || limit < 0) throw new UsageError("--limit: expected a whole number.");
  const all = args.hasFlag("all");
  const own = await store.list({
    parent: "none",
    ...(!all && { cwd: folder }),
    ...(args.hasFlag("pinned") && { pinned: true }),
    ...(limit > 0 && { limit }),
  });
  const records = args.hasFlag("subagents") ? await withSubagents(own, store) : own;
  for (const { id, message } of (await store.unlisted?.()) ?? []) {
    warn(`Oxbow cannot list ${id}: ${safeLine(message)}`);
  }
  const none = all
    ? "There are no sessions yet."
    : "This folder has no sessions yet. '--all' lists those of all folders.";
  const look = { now: clock.wall(), all, width: screen?.width, color: screen?.color ?? false };
  return { text: records.length === 0 ? none : table(records, look), value: asValue(records) };
};

/** Each session with its subagents after it, and theirs. */
async function withSubagents(
  records: readonly SessionRecord[],
  store: SessionStore,
): Promise<readonly SessionRecord[]> {
  const below = await Promise.all(
    records.map(async (record) => {
      const own = await store.list({ parent: record.id });
      return [record, ...(await withSubagents([...own].reverse(), store))];
    }),
  );
  return below.flat();
}

interface Look {
  readonly now: number;
  readonly all: boolean;
  readonly width: number | undefined;
  readonly color: boolean;
}

function table(records: readonly SessionRecord[], { now, all, width, color }: Look): string {
  const columns: Column<SessionRecord>[] = [
    { header: "ID", value: ({ id }) => id, priority: 9, minWidth: 31 },
    { header: "OF", value: ({ parent }) => parent && `└ ${parent.session.slice(-6)}`, priority: 8 },
    { header: "", value: ({ pinned }) => (pinned ? "★" : ""), priority: 5 },
    { header: "ACTIVE", value: ({ active_at }) => ago(now - Date.parse(active_at)), align: "right", priority: 8 },
    { header: "EVENTS", value: ({ last_event }) => String(last_event), align: "right", priority: 2 },
    { header: "MODEL", value: ({ provider, model }) => `${provider}:${model}`, priority: 4, maxWidth: 32 },
    { header: "BRANCH OF", value: ({ branch_of }) => branch_of?.session, priority: 1, maxWidth: 14 },
    { header: "TITLE", value: ({ title }) => safeLine(title ?? ""), priority: 7, minWidth: 16 },
    ...(all ? [{ header: "FOLDER", value: ({ cwd }: SessionRecord) => cwd, priority: 3 }] : []),
  ];
  const used = columns.filter(({ header, value }) => header === "ID" || records.some((record) => value(record)));
  return renderTable(used, records, { width, color });
}
