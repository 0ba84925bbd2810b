import { join } from "node:path";
import { sweepOutputs } from "../../../sessions/outputs.js";
import { collect, dueSoon } from "../../../sessions/retention.js";
import { removeUndo, undoSessions } from "../../../sessions/undo/remove.js";
import { EXIT } from "../../exit-codes.js";
import { retentionPolicy } from "../../retention-notice.js";
import type { OpenSessions } from "./open-sessions.js";
import type { SessionAction } from "./session-action.js";

export const action: SessionAction = {
  flags: [{ name: "dry-run", short: "n", help: "show what would go" }],
  async run(flags, sessions) {
    const { store, settings } = sessions;
    const now = sessions.clock.wall();
    const policy = await retentionPolicy(settings, sessions.roots);
    const dryRun = flags.has("dry-run");
    const gone = await collect(store, now, { dryRun, policy });
    const undo = await staleUndo(sessions, { dryRun });
    if (!dryRun) await sweepSessionOutputs(sessions, { now, days: policy.days });
    const going = new Set(gone.map(({ session }) => session));
    // What a dry run says would go now is not said to go later too.
    const soon = (await dueSoon(store, now, policy)).filter(({ session }) => !(dryRun && going.has(session)));
    sessions.print(flags, { dry_run: dryRun, expired: gone, undo, due_soon: soon }, () => {
      const word = dryRun ? "would lose" : "lost";
      const lines = gone.map(({ session, events, reason, error }) =>
        error === undefined ? `${session} ${word} the content of ${events} events: ${reason}.` : `${session}: ${error}`,
      );
      lines.push(...undo.map((session) => `${session}: its undo copies ${dryRun ? "would go" : "are gone"}.`));
      if (lines.length === 0) lines.push("Nothing has expired that was announced.");
      lines.push(
        ...soon.map(
          ({ session, title, expires_at }) =>
            `${session} (${title ?? "no title"}) loses content from ${expires_at.slice(0, 10)} on. 'oxbow session pin' keeps it.`,
        ),
      );
      return lines.join("\n");
    });
    return gone.some(({ error }) => error !== undefined) ? EXIT.failed : EXIT.answered;
  },
};

async function sweepSessionOutputs(
  { stores, store, roots }: OpenSessions,
  age: { readonly now: number; readonly days: number },
): Promise<void> {
  const knowsAll = (await stores.choice()).kind === "sqlite";
  await sweepOutputs(join(roots.state, "output"), { ...age, find: (session) => store.get(session), knowsAll });
}

/** Copies that no session needs any more: it is gone, or all that it said has expired. */
async function staleUndo({ stores, store }: OpenSessions, { dryRun }: { readonly dryRun: boolean }): Promise<string[]> {
  const stale: string[] = [];
  for (const session of await undoSessions(stores.undoFolder)) {
    const record = await store.get(session);
    if (record !== undefined && record.expired_to < record.last_event) continue;
    // Sessions of other stores keep their copies here too; only what the user's own database lost is known to be stale.
    if (record === undefined && (await stores.choice()).kind !== "sqlite") continue;
    if (!dryRun) await removeUndo(stores.undoFolder, session);
    stale.push(session);
  }
  return stale;
}
