import { safeLine } from "../../../base/terminal-text.js";
import { ago, type Column, renderTable } from "../../../base/text-table.js";
import { UsageError } from "../../../base/usage-error.js";
import type { SessionRecord } from "../../../sessions/store.js";
import { EXIT } from "../../exit-codes.js";
import type { SessionAction } from "./session-action.js";

export const action: SessionAction = {
  flags: [
    { name: "all", short: "a", help: "of every folder" },
    { name: "limit", short: "n", value: "N", help: "at most so many (default 20, 0 for all)" },
    { name: "pinned", help: "only pinned ones" },
  ],
  async run(flags, sessions) {
    const limit = Number(flags.text("limit") ?? 20);
    if (!Number.isInteger(limit) || limit < 0) throw new UsageError("--limit: expected a whole number.");
    const records = await sessions.store.list({
      ...(!flags.has("all") && { cwd: sessions.folder }),
      ...(flags.has("pinned") && { pinned: true }),
      ...(limit > 0 && { limit }),
    });
    for (const { id, message } of (await sessions.store.unlisted?.()) ?? []) {
      sessions.terminal.err.write(`oxbow: ${id} cannot be listed: ${safeLine(message)}\n`);
    }
    const now = sessions.clock.wall();
    sessions.print(flags, records, () => {
      if (records.length > 0) return table(records, { now, all: flags.has("all"), ...sessions.terminal });
      return flags.has("all")
        ? "There are no sessions yet."
        : "There are no sessions of this folder yet. '--all' shows those of others.";
    });
    return EXIT.answered;
  },
};

function table(
  records: readonly SessionRecord[],
  look: { readonly now: number; readonly all: boolean; readonly color: boolean },
): string {
  const columns: Column<SessionRecord>[] = [
    { header: "ID", value: ({ id }) => id, priority: 9, minWidth: 31 },
    { header: "", value: ({ pinned }) => (pinned ? "★" : ""), priority: 5 },
    { header: "ACTIVE", value: ({ active_at }) => ago(look.now - Date.parse(active_at)), align: "right", priority: 8 },
    { header: "EVENTS", value: ({ last_event }) => String(last_event), align: "right", priority: 2 },
    { header: "MODEL", value: ({ provider, model }) => `${provider}:${model}`, priority: 4, maxWidth: 32 },
    { header: "BRANCH OF", value: ({ branch_of }) => branch_of?.session, priority: 1, maxWidth: 14 },
    { header: "TITLE", value: ({ title }) => safeLine(title ?? ""), priority: 7, minWidth: 16 },
    ...(look.all ? [{ header: "FOLDER", value: ({ cwd }: SessionRecord) => cwd, priority: 3 }] : []),
  ];
  const used = columns.filter(({ header, value }) => header === "ID" || records.some((record) => value(record)));
  return renderTable(used, records, { width: process.stdout.columns, color: look.color });
}
