/**
 * One process has one store, that of its first place. A place may ask for another one: by its profile, or by the folder
 * `.oxbow/sessions/` of its project. Its sessions must not silently go where the user did not want them: unencrypted, into the files of
 * another project, or into a store at all.
 */
import { STORES } from "../../sessions/stores.js";
import type { Place, ProcessParts } from "../open-engine.js";
import { SessionStores, type StoreChoice } from "./session-stores.js";

/** Tells what a new session there would do wrong; undefined if its place has the same store. `notify` says which folder is not approved. */
export async function storeDifference(
  { loaded, root }: Pick<Place, "loaded" | "root">,
  { sessions, variables, notify }: Pick<ProcessParts, "sessions" | "variables" | "notify">,
): Promise<string | undefined> {
  const { settings, roots } = loaded;
  // A flag and a variable belong to the process.
  if (settings.store.origin.startsWith("--") || settings.store.origin === "OXBOW_STORE") return undefined;
  const [own, wanted] = await Promise.all([
    sessions.choice(),
    new SessionStores({ settings, roots, variables, root, notify, hint: () => {} }).choice(),
  ]);
  if (describe(own) === describe(wanted)) return undefined;
  return `Sessions of ${root} belong ${describe(wanted)}, but this engine stores its sessions ${describe(own)}. Start a separate engine for that folder: oxbow --no-attach.`;
}

function describe(choice: StoreChoice): string {
  if (choice.kind === "none") return "nowhere (store = none)";
  return STORES[choice.kind].where(choice.folder);
}
