/** The settings of a folder together with those of its project, as far as they are approved. Asks no questions. */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { mayHoldContent } from "../../security/trust/may-hold-content.js";
import { type LoadedSettings, loadSettings } from "../settings/settings.js";
import { discoverOptions } from "./content-options.js";

const PROFILES = new Set(["profile"] as const);

export async function placeSettings(
  flags: ParsedFlags,
  variables: Variables,
  { unapproved, root: folder }: { readonly unapproved: "refuse" | "ignore"; readonly root?: string },
): Promise<LoadedSettings> {
  const loaded = await loadSettings(flags, variables);
  const root = folder ?? realFolder(resolve(flags.text("cwd") ?? process.cwd()));
  const look = { color: false, width: 80, skipUnapproved: true, allowProjectHooks: false, notify: () => {} };
  const options = { loaded, variables, root, kinds: PROFILES, ...look };
  const mayHave = loaded.chosen.onlyProject || mayHoldContent({ ...discoverOptions(options), kinds: PROFILES });
  if (!mayHave) return loaded;
  const [{ findExtensions }, { withProject }] = await Promise.all([
    import("./find-extensions.js"),
    import("../settings/project-profiles.js"),
  ]);
  const { files } = await findExtensions({ ...options, granted: new Set(), since: Number.POSITIVE_INFINITY });
  return withProject(loaded, files, { unapproved });
}

/** A missing folder has no project; the command reports it itself. */
function realFolder(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
