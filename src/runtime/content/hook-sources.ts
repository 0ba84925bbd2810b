/**
 * The folders that approved hooks of the stage `sources` add, for commands that list or approve content. Only the user's own hooks run
 * here: those of a project need a flag of a run.
 */
import type { Variables } from "../../base/variables.js";
import type { ContentKind } from "../../security/trust/content.js";
import { mayHoldContent } from "../../security/trust/may-hold-content.js";
import type { LoadedSettings } from "../settings/settings.js";
import { extensionOptions, type ProjectContentOptions } from "./content-options.js";

const HOOKS: ReadonlySet<ContentKind> = new Set(["hook"]);

export async function hookSources(place: {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
}): Promise<readonly string[]> {
  const options: ProjectContentOptions = {
    ...place,
    ...{ color: false, width: 80, skipUnapproved: true, allowProjectHooks: false, kinds: HOOKS },
    notify: () => {},
  };
  if (!mayHoldContent(extensionOptions(options))) return [];
  const { findExtensions } = await import("./find-extensions.js");
  return (await findExtensions(options)).extra ?? [];
}
