import { safeLine } from "../../../base/terminal-text.js";
import { UsageError } from "../../../base/usage-error.js";
import { asValue } from "../../../feature/command.js";
import type { SessionRecord, SessionStore } from "../../../sessions/store.js";
import { rowsOf, sessionTable } from "./list-table.js";
import type { SessionAction } from "./port.js";

export const list: SessionAction = async (args, { store, folder, clock, live }, { warn, screen }) => {
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
  if (records.length === 0) return { text: none, value: [] };
  const rows = await rowsOf(records, { store, live: await live?.() });
  const look = { now: clock.wall(), all, width: screen?.width, color: screen?.color ?? false };
  return { text: sessionTable(rows, look), value: asValue(rows) };
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
