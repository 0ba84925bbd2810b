/** A hint for a folder whose only instructions are files of another tool, which the settings do not list. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { instructionPlaces } from "../../security/trust/places.js";
import type { LoadedSettings } from "../settings/settings.js";

/** Undefined if there is nothing to say. */
export function unreadInstructions({ settings, profilePath }: LoadedSettings, root: string): string | undefined {
  const { value: listed, origin } = settings.context_sources;
  if (origin !== "default" || listed.some((name) => existsSync(join(root, name)))) return undefined;
  const found = instructionPlaces(undefined).find(({ path }) => !listed.includes(path) && existsSync(join(root, path)));
  if (found === undefined) return undefined;
  const wanted = [...listed, found.path].map((name) => JSON.stringify(name)).join(", ");
  return `${found.path} is not read here. To read it, write context_sources = [${wanted}] into ${profilePath}.`;
}
