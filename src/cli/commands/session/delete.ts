import { join } from "node:path";
import { UsageError } from "../../../base/usage-error.js";
import { EXIT } from "../../exit-codes.js";
import { confirm } from "./confirm.js";
import type { SessionAction } from "./session-action.js";
import { withLease } from "./with-lease.js";

export const action: SessionAction = {
  flags: [{ name: "yes", short: "y", help: "without being asked" }],
  async run(flags, sessions) {
    const { id, title, pinned } = await sessions.named(flags);
    if (pinned) throw new UsageError(`${id} is pinned. 'oxbow session unpin ${id}' first.`);
    const advice = "Leave it there first, then delete it.";
    return withLease(sessions, { session: id, advice }, async () => {
      if (!flags.has("yes") && !(await confirm(sessions, `Delete ${id} (${title ?? "no title"}) for good?`))) {
        sessions.print(flags, { id, deleted: false }, () => "Nothing was deleted.");
        return EXIT.cancelled;
      }
      await sessions.store.remove(id);
      const { removeUndo } = await import("../../../sessions/undo/remove.js");
      await removeUndo(sessions.stores.undoFolder, id);
      const { removeOutputs } = await import("../../../sessions/outputs.js");
      await removeOutputs(join(sessions.roots.state, "output"), id);
      sessions.print(flags, { id, deleted: true }, () => `${id} was deleted.`);
      return EXIT.answered;
    });
  },
};
