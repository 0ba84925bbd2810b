/** The providers there are, the user's own among them. */
import type { Variables } from "../../env.js";
import { parseFlags } from "../../flags.js";
import { ProviderDirectory } from "../../models/provider-directory.js";
import { loadSettings } from "../../settings.js";

export async function openDirectory(variables: Variables): Promise<ProviderDirectory> {
  const { settings, roots, profilePath } = await loadSettings(parseFlags([], [], ""), variables);
  return ProviderDirectory.open({ variables, roots, tables: { value: settings.providers.value, file: profilePath } });
}
