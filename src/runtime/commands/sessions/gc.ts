import { join } from "node:path";
import { asValue, COMMAND_EXIT } from "../../../feature/command.js";
import { sweepOutputs } from "../../../sessions/outputs.js";
import { collect, dueSoon } from "../../../sessions/retention.js";
import { removeUndo, undoSessions } from "../../../sessions/undo/remove.js";
import { dismissNotices, retentionPolicy } from "../../sessions/retention-watch.js";
import type { OpenPort, SessionAction } from "./port.js";

export const gc: SessionAction = async (args, port) => {
  const { store, settings, roots } = port;
  const now = port.clock.wall();
  const policy = await retentionPolicy(settings, roots);
  const dryRun = args.hasFlag("dry-run");
  const gone = await collect(store, now, { dryRun, policy });
  const undo = await staleUndo(port, { dryRun });
  if (!dryRun) await sweepSessionOutputs(port, { now, days: policy.days });
  const going = new Set(gone.map(({ session }) => session));
  // A session that a dry run reports as expired is not also reported as expiring soon.
  const soon = (await dueSoon(store, now, policy)).filter(({ session }) => !(dryRun && going.has(session)));
  const lines = [
    ...gone.map(({ session, events, reason, error }) => {
      if (error !== undefined) return `${session}: ${error}`;
      return `${session} ${dryRun ? "would lose" : "lost"} the content of ${events} events: ${reason}.`;
    }),
    ...undo.map((session) => `${session}: its undo copies ${dryRun ? "would be deleted" : "were deleted"}.`),
  ];
  if (lines.length === 0) lines.push("No announced content has expired.");
  lines.push(
    ...soon.map(
      ({ session, title, expires_at }) =>
        `${session} (${title ?? "no title"}) loses content from ${expires_at.slice(0, 10)} on. 'oxbow session pin' keeps it.`,
    ),
  );
  const value = asValue({ dry_run: dryRun, expired: gone, undo, due_soon: soon });
  const failed = gone.some(({ error }) => error !== undefined);
  return { text: lines.join("\n"), value, ...(failed && { exitCode: COMMAND_EXIT.failed }) };
};

export const dismiss: SessionAction = async (_args, { store, settings, roots, clock }) => {
  const due = await dueSoon(store, clock.wall(), await retentionPolicy(settings, roots));
  const dismissed = await dismissNotices(due, roots);
  const which = dismissed === 1 ? "1 session" : `${dismissed} sessions`;
  const text = dismissed === 0 ? "There is no notice to dismiss." : `Oxbow does not announce ${which} again.`;
  return { text, value: { dismissed } };
};

async function sweepSessionOutputs(
  { stores, store, roots }: OpenPort,
  age: { readonly now: number; readonly days: number },
): Promise<void> {
  const knowsAll = await stores.isOwn();
  await sweepOutputs(join(roots.state, "output"), { ...age, find: (session) => store.get(session), knowsAll });
}

/** Copies that no session needs any more: the session was deleted, or all of its content has expired. */
async function staleUndo({ stores, store }: OpenPort, { dryRun }: { readonly dryRun: boolean }): Promise<string[]> {
  const stale: string[] = [];
  for (const session of await undoSessions(stores.undoFolder)) {
    const record = await store.get(session);
    if (record !== undefined && record.expired_to < record.last_event) continue;
    // Sessions of other stores keep their copies here too; only copies of the user's own database are known to be stale.
    if (record === undefined && !(await stores.isOwn())) continue;
    if (!dryRun) await removeUndo(stores.undoFolder, session);
    stale.push(session);
  }
  return stale;
}
