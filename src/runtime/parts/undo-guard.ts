/** Which entries of an undo plan need the user's explicit yes. */
import { resolve } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { UndoPlan } from "../../sessions/undo/plan.js";
import { shownPath } from "../../system/path-bytes.js";
import type { SessionStores } from "../sessions/session-stores.js";
import type { Settings } from "../settings/settings.js";
import { extraRoots } from "./extra-folders.js";
import { RunGuard } from "./guard.js";

export interface GuardedUndo {
  /** The paths of guarded entries that are ready. */
  readonly paths: readonly string[];
  /** One line for each; empty if there are none. */
  readonly text: string;
  reason(path: string): Promise<string | undefined>;
}

interface UndoPlace {
  readonly sessions: SessionStores;
  readonly settings: Settings;
  readonly variables: Variables;
}

export async function guardedUndo(plan: UndoPlan, { sessions, settings, variables }: UndoPlace): Promise<GuardedUndo> {
  const guard = new RunGuard({
    root: plan.root,
    extraRoots: extraRoots({ settings }, variables),
    variables,
    ownFolders: sessions.ownFolders,
  });
  const reason = (path: string) => guard.reason(resolve(plan.root, path));
  const found: { readonly path: string; readonly why: string }[] = [];
  for (const { path, state } of plan.items) {
    const why = state === "ready" ? await reason(path) : undefined;
    if (why !== undefined) found.push({ path, why });
  }
  const text = found.map(({ path, why }) => `  ${shownPath(path)}: ${why}`).join("\n");
  return {
    paths: found.map(({ path }) => path),
    text: text && `Guarded files need your explicit yes:\n${text}`,
    reason,
  };
}
