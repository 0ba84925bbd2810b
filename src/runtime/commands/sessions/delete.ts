import { rm } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../../base/usage-error.js";
import { COMMAND_EXIT, type CommandResult, refuse } from "../../../feature/command.js";
import type { SessionId } from "../../../protocol/ids.js";
import { named, type OpenPort, type SessionAction } from "./port.js";
import { withLease } from "./with-lease.js";

export const deleteSession: SessionAction = async (args, port, { confirm }) => {
  const { id, title, pinned } = await named(args.text("ID"), port);
  if (pinned) throw new UsageError(`${id} is pinned. Unpin it first: oxbow session unpin ${id}`);
  const subagents = await subagentsOf(id, port);
  const more = subagents.length === 0 ? "" : ` with the sessions of its ${subagents.length} subagents`;
  const question = `Delete ${id} (${title ?? "no title"})${more} permanently?`;
  return withLease(port, { session: id, advice: "Close it there first, then delete it." }, async () => {
    if (!args.hasFlag("yes")) {
      if (confirm === undefined) return refuse(`${question} Add --yes to do it without a question.`);
      if (!(await confirm(question))) {
        return { text: "Nothing was deleted.", value: { id, deleted: false }, exitCode: COMMAND_EXIT.cancelled };
      }
    }
    for (const below of subagents) await remove(below, port);
    return remove(id, port);
  });
};

/** The deepest first. */
async function subagentsOf(session: SessionId, port: OpenPort): Promise<readonly SessionId[]> {
  const own = await port.store.list({ parent: session });
  const below = await Promise.all(own.map(async ({ id }) => [...(await subagentsOf(id, port)), id]));
  return below.flat();
}

async function remove(id: SessionId, port: OpenPort): Promise<CommandResult> {
  const { store, stores, roots } = port;
  const record = await store.get(id);
  await store.remove(id);
  if (record?.branch_of !== undefined) await (await import("../../sessions/rerun.js")).removeFolder(record, port);
  const { removeUndo } = await import("../../../sessions/undo/remove.js");
  await removeUndo(stores.undoFolder, id);
  const { removeOutputs } = await import("../../../sessions/outputs.js");
  await removeOutputs(join(roots.state, "output"), id);
  const { rawTrafficFile } = await import("../../../providers/raw-traffic/traffic.js");
  await rm(rawTrafficFile(roots, id), { force: true });
  return { text: `${id} was deleted.`, value: { id, deleted: true } };
}
