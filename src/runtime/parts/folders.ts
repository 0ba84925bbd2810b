/** The folders that a session uses like its workspace: those of the setting `extra_roots`, and those that a person adds to it. */
import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { type Failure, failure } from "../../protocol/errors.js";
import { extraRoots, fromHome, writableFolders } from "../../security/sandbox/extra-folders.js";
import { noteWorkspace } from "../../system/project-folders.js";
import { isInside } from "../../tools/files/containment.js";
import type { SessionParts } from "../open-engine.js";
import type { LoadedSettings } from "../settings/settings.js";

type FoldersPlace = Pick<SessionParts, "loaded" | "variables" | "root" | "sessions">;

export class SessionFolders {
  readonly #place: FoldersPlace;
  readonly #onAdded = new Set<(folder: string) => Promise<void>>();
  /** Free of links, as the others. It grows. */
  readonly roots: string[];
  /** All that sandboxed commands may change besides the workspace. It grows. */
  readonly writable: string[];
  /** The folders that a person added to this session. It grows. */
  readonly added: string[] = [];
  /** The settings of the session: their `extra_roots` have the added folders. */
  readonly loaded: LoadedSettings;

  constructor(place: FoldersPlace) {
    const { loaded, variables } = place;
    this.#place = place;
    this.roots = [...extraRoots(loaded, variables)];
    this.writable = [...writableFolders(loaded, variables)];
    const { extra_roots: setting } = loaded.settings;
    this.loaded = { ...loaded, settings: { ...loaded.settings, extra_roots: { ...setting, value: this.roots } } };
  }

  /** Relative to the workspace, or below `~`. */
  async add(typed: string): Promise<{ readonly folder: string } | { readonly failure: Failure }> {
    const { root, variables, sessions } = this.#place;
    const refuse = (why: string) => ({
      failure: failure("InvalidInput", { detail: `${typed} is not added: ${why}.` }),
    });
    const folder = realFolder(resolve(root, fromHome(typed, variables)));
    if (folder === undefined) return refuse("there is no such folder");
    if (isInside(folder, [root, ...this.roots])) return { folder };
    const own = sessions.ownFolders.find((each) => isInside(each, [folder]) || isInside(folder, [each]));
    if (isInside(realFolder(variables.HOME || homedir()) ?? "/", [folder])) return refuse("your home folder is in it");
    if (own !== undefined) return refuse(`it shares files with ${own}, which belongs to Oxbow`);
    for (const list of [this.roots, this.writable, this.added]) list.push(folder);
    noteWorkspace(folder);
    await Promise.all([...this.#onAdded].map((listener) => listener(folder)));
    return { folder };
  }

  /** Returns a function that ends it. */
  onAdded(listener: (folder: string) => Promise<void>): () => void {
    this.#onAdded.add(listener);
    return () => void this.#onAdded.delete(listener);
  }
}

/** The first failure of what the command line and the session itself add; what the session had and is gone is left out. */
export async function openFolders(
  place: FoldersPlace,
  earlier: readonly string[],
): Promise<SessionFolders | { readonly failure: Failure }> {
  const folders = new SessionFolders(place);
  for (const folder of earlier) await folders.add(folder);
  for (const folder of place.loaded.settings.add_dir.value) {
    const added = await folders.add(folder);
    if ("failure" in added) return added;
  }
  return folders;
}

function realFolder(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? realpathSync(path) : undefined;
  } catch {
    return undefined;
  }
}
