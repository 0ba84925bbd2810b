/** Opens what applies the changes of a session's commands, with the permissions, the guard list and undo of that session. */
import { join } from "node:path";
import { isWithin } from "../../system/within.js";
import type { SessionParts } from "../open-engine.js";
import { toolChains } from "./containment.js";
import type { RunGuard } from "./guard.js";
import type { HeldChanges } from "./held-changes.js";
import type { PermissionParts } from "./open-permissions.js";
import { ignoreSource, type RunUndo } from "./undo.js";

export async function openHeldChanges(place: HeldPlace): Promise<HeldChanges> {
  const { loaded, variables, root, notify, guard, sessions, undo, permissions } = place;
  const [{ HeldChanges, finishAbandoned }, { trackedFiles }, { UNDO_LIMITS }, { placed, refusingEntry }] =
    await Promise.all([
      import("./held-changes.js"),
      import("../../security/permissions/tracked-files.js"),
      import("../../sessions/undo/limits.js"),
      import("../../security/permissions/path-permissions.js"),
    ]);
  const folder = join(loaded.roots.state, "sandbox");
  await finishAbandoned(folder, { notify });
  return new HeldChanges({
    root,
    folder,
    ignore: async () => ignoreSource(await sessions.keptFolders()),
    reasons: () => guard.reasons(),
    refusal: async () => {
      const entries = placed(await (await permissions()).paths.load(), root);
      return (absolute, access) => {
        if (sessions.ownFolders.some((folder) => isWithin(absolute, folder))) return "it belongs to Oxbow";
        const entry = refusingEntry(entries, { absolute, access, display: absolute, place: "workspace" });
        return entry && `the path permission for ${entry.prefix} does not grant ${access} there`;
      };
    },
    tracked: (folder, paths) => trackedFiles(folder)(paths),
    programs: () => [...SYSTEM_FOLDERS, ...toolChains(variables)],
    notify,
    record: (changes) => undo.beforeAll(changes),
    keptBytes: UNDO_LIMITS.fileBytes,
  });
}

export interface HeldPlace extends Pick<SessionParts, "loaded" | "variables" | "root" | "notify"> {
  readonly sessions: Pick<SessionParts["sessions"], "ownFolders" | "keptFolders">;
  readonly guard: Pick<RunGuard, "reasons">;
  readonly undo: Pick<RunUndo, "beforeAll">;
  readonly permissions: () => Promise<Pick<PermissionParts, "paths">>;
}

/** A link to a program of the system or of a tool chain leads to nothing that a command could change. */
const SYSTEM_FOLDERS: readonly string[] = "/usr /bin /sbin /lib /lib64 /opt /nix /dev/null".split(" ");
