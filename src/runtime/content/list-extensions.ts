/** What is in the folders of a place, for commands that list or approve content. Only the user's own approved hooks run here: those of a project need a flag of a run. */
import type { Variables } from "../../base/variables.js";
import type { ContentKind } from "../../security/trust/content.js";
import { type ListedExtensions, listedExtensions } from "../../security/trust/list-extensions.js";
import { mayHoldContent } from "../../security/trust/may-hold-content.js";
import type { LoadedSettings } from "../settings/settings.js";
import { openApprovals } from "./approvals.js";
import { discoverOptions, extensionOptions, type ProjectContentOptions } from "./content-options.js";

interface ListedPlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
}

export async function listExtensions(place: ListedPlace): Promise<ListedExtensions> {
  const { loaded, variables, root } = place;
  const options = { ...discoverOptions(place), extra: await hookSources(place) };
  return listedExtensions(options, openApprovals(root, { roots: loaded.roots, variables }));
}

const HOOKS: ReadonlySet<ContentKind> = new Set(["hook"]);

/** Finds the folders that approved hooks of the stage `sources` add. */
export async function hookSources(place: ListedPlace): Promise<readonly string[]> {
  const options: ProjectContentOptions = {
    ...place,
    ...{ color: false, width: 80, skipUnapproved: true, allowProjectHooks: false, kinds: HOOKS },
    notify: () => {},
  };
  if (!mayHoldContent(extensionOptions(options))) return [];
  const { findExtensions } = await import("./find-extensions.js");
  return (await findExtensions(options)).extra ?? [];
}
