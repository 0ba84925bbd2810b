/** Enters a folder: its approved content, and the settings together with those of the project. */
import type { Failure } from "../../protocol/errors.js";
import type { LoadedSettings } from "../settings/settings.js";
import type { ProjectContentOptions } from "./content-options.js";
import { ProjectContent } from "./project-content.js";

export interface EnteredPlace {
  readonly loaded: LoadedSettings;
  readonly content: ProjectContent;
}

export async function enterPlace(given: ProjectContentOptions): Promise<EnteredPlace | { readonly failure: Failure }> {
  const options = { ...given, notify: onceEach(given.notify) };
  const content = await ProjectContent.enter(options);
  if ("failure" in content) return content;
  const files = content.extensions.of("profile");
  if (files.length === 0 && !options.loaded.chosen.onlyProject) return { loaded: options.loaded, content };
  const { withProject } = await import("../settings/project-profiles.js");
  const loaded = await withProject(options.loaded, files, { unapproved: "refuse" });
  const known = new Set(options.loaded.warnings);
  for (const warning of loaded.warnings) if (!known.has(warning)) options.notify(warning);
  if (hasSameInstructions(loaded, options.loaded)) return { loaded, content };
  // The project lists other instruction files: they need approval, too.
  const again = await ProjectContent.enter({ ...options, loaded });
  return "failure" in again ? again : { loaded, content: again };
}

/** A second search of the same folder repeats no message. */
function onceEach(notify: (message: string) => void): (message: string) => void {
  const reported = new Set<string>();
  return (message) => {
    if (reported.has(message)) return;
    reported.add(message);
    notify(message);
  };
}

function hasSameInstructions({ settings: one }: LoadedSettings, { settings: other }: LoadedSettings): boolean {
  const of = ({ context_sources, context_bytes }: LoadedSettings["settings"]) =>
    JSON.stringify([context_sources.value, context_bytes.value]);
  return of(one) === of(other);
}
