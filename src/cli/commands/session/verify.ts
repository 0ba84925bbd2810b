import type { SessionId } from "../../../protocol/ids.js";
import { type SessionStore, StoreError, type Verification } from "../../../sessions/store.js";
import { EXIT } from "../../exit-codes.js";
import { StatusLine } from "../../status-line.js";
import type { SessionAction } from "./session-action.js";

export const action: SessionAction = {
  flags: [{ name: "all", short: "a", help: "every session" }],
  async run(flags, sessions) {
    // First: a damaged list may not name every session.
    const problems = flags.has("all") ? ((await sessions.store.inspect?.()) ?? []) : [];
    const records = flags.has("all") ? await sessions.store.list() : [await sessions.named(flags)];
    const results: (Verification & { readonly id: SessionId })[] = [];
    const status = new StatusLine(sessions.terminal);
    for (const { id, last_event } of records) {
      status.show(`${id}: ${last_event} events`);
      results.push({ id, ...(await verify(sessions.store, id)) });
    }
    const unlisted = flags.has("all") ? await sessions.store.unlisted?.() : undefined;
    for (const { id, message } of unlisted ?? []) results.push({ id, ...unreadable(message) });
    status.clear();
    for (const problem of problems) sessions.terminal.err.write(`oxbow: ${problem}\n`);
    sessions.print(flags, flags.has("all") ? results : results[0], () => results.map(line).join("\n"));
    return problems.length === 0 && results.every(({ ok }) => ok) ? EXIT.answered : EXIT.failed;
  },
};

/** One that cannot be read does not keep the others from being looked at. */
async function verify(store: SessionStore, session: SessionId): Promise<Verification> {
  try {
    return await store.verify(session);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "damaged") throw error;
    return unreadable(error.message);
  }
}

function unreadable(message: string): Verification {
  return { ok: false, problem: "unreadable", event_id: 0, message };
}

function line(result: Verification & { readonly id: string }): string {
  return result.ok
    ? `${result.id}: ${result.events} events, all as they were written.`
    : `${result.id}: ${result.message}`;
}
