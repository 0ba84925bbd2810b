/** Describes where approvals are stored, and who can give them. */
import { join, resolve } from "node:path";
import type { Variables } from "../../base/variables.js";
import { ApprovedLock, type Approver } from "../../security/trust/approved-lock.js";
import { projectTop } from "../../security/trust/folders.js";
import { startedByModel } from "../../system/model-ancestors.js";
import type { Roots } from "../../system/xdg-paths.js";

export function openApprovals(
  folder: string,
  { roots, variables }: { roots: Roots; variables: Variables },
): ApprovedLock {
  const given = variables.OXBOW_APPROVED_LOCK;
  return new ApprovedLock({
    file: join(roots.config, "approved.lock"),
    contents: join(roots.data, "approved"),
    ...(given && { portable: { file: resolve(given), root: projectTop(folder) } }),
    findPins: async (item, bytes) => {
      if (item.kind !== "mcp") return undefined;
      const { pinsOfEntry } = await import("../mcp/server-pins.js");
      return pinsOfEntry(item, bytes, { folder, variables });
    },
    noteOn: async (item, bytes) => {
      if (item.kind !== "mcp") return undefined;
      const { networkNote } = await import("../mcp/server-pins.js");
      return networkNote(item, bytes, { folder, variables });
    },
  });
}

/** A command that a model started may have a terminal; it is still not a person. */
export function approver(variables: Variables): Approver {
  return { name: variables.USER || "unknown", identity: startedByModel(variables) ? "agent" : "human" };
}
