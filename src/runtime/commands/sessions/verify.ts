import { asValue, COMMAND_EXIT } from "../../../feature/command.js";
import type { SessionId } from "../../../protocol/ids.js";
import { type SessionStore, StoreError, type Verification } from "../../../sessions/store.js";
import { named, type SessionAction } from "./port.js";

export const verify: SessionAction = async (args, port, { progress, warn }) => {
  const { store } = port;
  const all = args.hasFlag("all");
  // First, because a damaged list may not name every session.
  const problems = all ? ((await store.inspect?.()) ?? []) : [];
  const records = all ? await store.list() : [await named(args.text("ID"), port)];
  const results: (Verification & { readonly id: SessionId })[] = [];
  for (const { id, last_event } of records) {
    progress(`${id}: ${last_event} events`);
    results.push({ id, ...(await verified(store, id)) });
  }
  const unlisted = all ? await store.unlisted?.() : undefined;
  for (const { id, message } of unlisted ?? []) results.push({ id, ...unreadable(message) });
  for (const problem of problems) warn(problem);
  const ok = problems.length === 0 && results.every((result) => result.ok);
  const value = all ? results : (results[0] ?? {});
  return {
    text: results.map((result) => line(result, store)).join("\n"),
    value: asValue(value),
    ...(!ok && { exitCode: COMMAND_EXIT.failed }),
  };
};

/** If one cannot be read, the others are still checked. */
async function verified(store: SessionStore, session: SessionId): Promise<Verification> {
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

function line(result: Verification & { readonly id: string }, { isEditable }: SessionStore): string {
  if (!result.ok) return `${result.id}: ${result.message}`;
  if (result.events === 0) return `${result.id}: no events. It was stopped before its first input was saved.`;
  if (isEditable)
    return `${result.id}: ${result.events} events, whole and in order. This store does not find edits: you may make them.`;
  return `${result.id}: ${result.events} events, all unchanged.`;
}
